//! Metadata and stack frames as locations.
use super::exporter::{Common, Exporter};
use crate::attributes::string;
use crate::ir::{Attribute, Attributes, Location, LocationId};
use hlo::Module;
use hlo::ir::{FrontendAttributes, Instruction, Metadata, SourcePlace};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The locations so far.
pub(super) struct Locations<'m> {
    module: &'m Module,
    pub(super) all: Vec<Location>,
    /// The locations of stack frames.
    frames: FxHashMap<i32, Option<LocationId>>,
}

impl<'m> Locations<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self { module, all: Vec::new(), frames: FxHashMap::default() }
    }
    fn add(&mut self, location: Location) -> LocationId {
        self.all.push(location);
        LocationId(u32::try_from(self.all.len() - 1).expect("memory holds fewer locations"))
    }
    /// Returns the location of metadata, if it tells one.
    fn of(&mut self, metadata: &Metadata) -> Option<LocationId> {
        let mut found = match metadata.stack_frame_id {
            0 => None,
            id => self.frame(id),
        };
        if found.is_none() && !metadata.source_file.is_empty() {
            found = metadata.places(&self.module.frames).next().map(|place| self.place(place));
        }
        let op_type = format!("{}:", metadata.op_type);
        for (name, is_there) in [
            (metadata.op_name.as_str(), !metadata.op_name.is_empty()),
            (&op_type, !metadata.op_type.is_empty()),
        ] {
            if is_there {
                found = Some(self.add(Location::Name(name.into(), found)));
            }
        }
        found
    }
    /// Returns the location of a stack frame: the innermost call, called at the others.
    fn frame(&mut self, id: i32) -> Option<LocationId> {
        if let Some(known) = self.frames.get(&id) {
            return *known;
        }
        let module = self.module;
        let places: Vec<SourcePlace<'_>> = module.frames.places(id).collect();
        let mut found = None;
        for place in places.into_iter().rev() {
            let file = self.place(place);
            let here = self.add(Location::Name(SmolStr::new(place.function), Some(file)));
            found = Some(match found {
                Some(caller) => self.add(Location::Call(here, caller)),
                None => here,
            });
        }
        self.frames.insert(id, found);
        found
    }
    fn place(&mut self, place: SourcePlace<'_>) -> LocationId {
        let number = |n: usize| u32::try_from(n).unwrap_or(0);
        let (line, column) = (number(place.line), number(place.column));
        self.add(Location::File { file: SmolStr::new(place.file), line, column })
    }
}

impl Exporter<'_> {
    /// Returns what the ops of an instruction have in common.
    pub(super) fn common_of(&mut self, instruction: &Instruction) -> Common {
        let Some(common) = &instruction.common else { return Common::default() };
        let location = common.metadata.as_ref().and_then(|metadata| self.locations.of(metadata));
        let mut attributes = Vec::new();
        if let Some(sharding) = common.sharding.as_ref().filter(|_| self.is_unpartitioned()) {
            attributes.push(("mhlo.sharding".into(), string(&sharding.to_string())));
        }
        if let Some(pairs) = &common.frontend_attributes {
            attributes.push(("mhlo.frontend_attributes".into(), frontend(pairs)));
        }
        Common { location, attributes }
    }
    /// Returns whether shardings say how a program is to be divided. In a module of several
    /// partitions they say how it was.
    pub(super) fn is_unpartitioned(&self) -> bool {
        self.module.config.num_partitions <= 1
    }
}

/// Returns the attributes of a frontend as a dictionary.
pub(super) fn frontend(pairs: &FrontendAttributes) -> Attribute {
    let pairs = pairs.0.iter().map(|(key, value)| (key.clone(), string(value)));
    Attribute::Dictionary(Attributes(pairs.collect()))
}
