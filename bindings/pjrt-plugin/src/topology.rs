//! Topologies: the devices of a client, or of one that is elsewhere, for which programs are compiled.
#![expect(unsafe_code, reason = "reads structs of the host")]
use crate::call::calls;
use crate::client::{Client, PLATFORM, VERSION, options};
use crate::executable::{Executable, delete_bytes, give_bytes, source};
use crate::failure::{Failure, Result};
use crate::handle::{destroy, get, give, list, text};
use crate::program::Program;
use crate::settings::Settings;
use prost::Message;
use std::ffi::c_void;
use std::ptr::null;
use std::sync::Arc;

/// The serialized form of a topology.
#[derive(Clone, PartialEq, prost::Message)]
struct Stored {
    #[prost(string, tag = "1")]
    platform: String,
    #[prost(uint64, tag = "2")]
    devices: u64,
}

/// Returns the object of a topology that the host destroys.
fn topology(settings: Settings) -> Result<*mut c_void> {
    let mut client = Client::new(settings)?;
    client.is_topology = true;
    Ok(give(Arc::new(client)))
}

fn unknown(name: &str) -> Failure {
    Failure::invalid(format!(
        "there is no topology `{name}`\n = help: the name is `{PLATFORM}`, with the devices that ETALON_DEVICE_COUNT says, or their number"
    ))
}

calls! {
    // The topology is that of the client, and lives as long.
    ClientTopologyDescription(a) {
        get::<Arc<Client>>(a.client)?;
        a.topology = a.client;
        Ok(())
    }
    TopologyDescriptionDestroy(a) {
        if get::<Arc<Client>>(a.topology)?.is_topology {
            destroy::<Arc<Client>>(a.topology);
        }
        Ok(())
    }
    TopologyDescriptionCreate(a) {
        let mut settings = Settings::read(&options(list(a.create_options, a.num_options))?)?;
        let name = text(a.name, a.name_size);
        if !["", PLATFORM].contains(&&*name) {
            let count = name.parse().ok().filter(|&count| Settings::may_have(count));
            settings.device_count = count.ok_or_else(|| unknown(&name))?;
        }
        a.topology = topology(settings)?;
        Ok(())
    }
    TopologyDescriptionSerialize(a) {
        let devices = u64::try_from(get::<Arc<Client>>(a.topology)?.devices.len()).unwrap_or(0);
        let stored = Stored { platform: PLATFORM.to_owned(), devices };
        (a.bytes, a.bytes_size, a.owner) = give_bytes(stored.encode_to_vec());
        a.deleter = Some(delete_bytes);
        Ok(())
    }
    TopologyDescriptionDeserialize(a) {
        let stored = Stored::decode(list(a.bytes.cast::<u8>(), a.bytes_size)).unwrap_or_default();
        let mut settings = Settings::read(&[])?;
        let count = usize::try_from(stored.devices).unwrap_or(0);
        if stored.platform != PLATFORM || !Settings::may_have(count) {
            return Err(Failure::invalid("the bytes are no topology of Etalon"));
        }
        settings.device_count = count;
        a.topology = topology(settings)?;
        Ok(())
    }
    // What is compiled for a topology runs on a client that it is loaded by, or that reads its serialized form.
    Compile(a) {
        let source = source(a.program, list(a.options.cast::<u8>(), a.options_size))?;
        // A client that the host names beside it may have fewer devices.
        let program = Program::compile(get::<Arc<Client>>(a.topology)?, source)?;
        a.executable = give(Executable::new(Arc::new(program)));
        Ok(())
    }
    TopologyDescriptionPlatformName(a) {
        (a.name, a.name_size) = (PLATFORM.as_ptr().cast(), PLATFORM.len());
        Ok(())
    }
    TopologyDescriptionPlatformVersion(a) {
        (a.version, a.version_size) = (VERSION.as_ptr().cast(), VERSION.len());
        Ok(())
    }
    // A device is its own description.
    TopologyDescriptionGetDeviceDescriptions(a) {
        let handles = &get::<Arc<Client>>(a.topology)?.device_handles;
        (a.descriptions, a.num_descriptions) = (handles.as_ptr(), handles.len());
        Ok(())
    }
    TopologyDescriptionAttributes(a) {
        (a.attributes, a.num_attributes) = (null(), 0);
        Ok(())
    }
    TopologyDescriptionFingerprint(a) {
        a.fingerprint = u64::try_from(get::<Arc<Client>>(a.topology)?.devices.len()).unwrap_or(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{buffer, call, client, launch, try_call, value, with_program};
    use pjrt::sys::*;
    use std::ffi::c_void;
    use std::ptr::null_mut;

    fn named(name: &str) -> Result<*mut c_void, String> {
        let (name, name_size) = (name.as_ptr().cast(), name.len());
        let create = TopologyDescriptionCreate { name, name_size, ..Default::default() };
        Ok(try_call(create)?.topology)
    }
    fn devices(topology: *mut c_void) -> usize {
        let all = TopologyDescriptionGetDeviceDescriptions { topology, ..Default::default() };
        call(all).num_descriptions
    }

    #[test]
    fn topologies_have_names_and_bytes() {
        let two = named("2").unwrap();
        assert_eq!((devices(two), devices(named("etalon").unwrap())), (2, 1));
        for wrong in ["0", "v5e:2x2", "5000"] {
            assert!(named(wrong).unwrap_err().contains(&format!("no topology `{wrong}`")));
        }
        let stored = call(TopologyDescriptionSerialize { topology: two, ..Default::default() });
        let (bytes, bytes_size) = (stored.bytes, stored.bytes_size);
        let restore = TopologyDescriptionDeserialize { bytes, bytes_size, ..Default::default() };
        let restored = call(restore).topology;
        let print = |topology| {
            call(TopologyDescriptionFingerprint { topology, ..Default::default() }).fingerprint
        };
        assert_eq!((devices(restored), print(restored)), (2, print(two)));
        assert!(try_call(TopologyDescriptionDeserialize::default()).is_err());
        for topology in [two, restored] {
            call(TopologyDescriptionDestroy { topology, ..Default::default() });
        }
    }

    #[test]
    fn what_is_compiled_for_a_topology_is_loaded_by_a_client() {
        let (client, _) = client(1);
        let topology = named("2").unwrap();
        let text = "HloModule m ENTRY e { x = s32[2] parameter(0) ROOT n = s32[2] negate(x) }";
        let compile = |replicas| {
            with_program(text, replicas, |program, options| {
                let (options, options_size) = (options.as_ptr().cast(), options.len());
                let executable = null_mut();
                let header = Header::of::<Compile>();
                call(Compile {
                    header,
                    topology,
                    program,
                    options,
                    options_size,
                    client,
                    executable,
                })
                .executable
            })
        };
        let (executable, of_two) = (compile(1), compile(2));
        let replicas = ExecutableNumReplicas { executable: of_two, ..Default::default() };
        assert_eq!(call(replicas).num_replicas, 2);
        call(TopologyDescriptionDestroy { topology, ..Default::default() });
        let load = ClientLoad { client, executable, ..Default::default() };
        let loaded = call(load).loaded_executable;
        let result = launch(loaded, null_mut(), buffer(client, null_mut(), &[3, -4], &[2]));
        assert_eq!(value(result).unwrap(), "s32[2]{0} {-3, 4}");
        // The topology of a client is the client's.
        let topology = call(ClientTopologyDescription { client, ..Default::default() }).topology;
        call(TopologyDescriptionDestroy { topology, ..Default::default() });
        assert_eq!(devices(topology), 1);
    }
}
