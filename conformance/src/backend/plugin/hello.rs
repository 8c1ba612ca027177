//! What a plugin says of itself.
use crate::backend::About;
use pjrt::{Client, OptionValue};
use serde::{Deserialize, Serialize};
use stablehlo::Version;
use std::path::Path;

/// What a plugin says of itself when it has made a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PluginHello {
    /// The version of the API that it was built with.
    pub(super) api: (i32, i32),
    pub(super) platform: String,
    pub(super) platform_version: String,
    pub(super) devices: usize,
    /// `xla_version`, `stablehlo_current_version` and the like.
    pub(super) attributes: Vec<(String, OptionValue)>,
}

impl PluginHello {
    /// Loads a plugin into this process and creates a client.
    pub(super) fn load(
        path: &Path,
        options: &[(String, OptionValue)],
    ) -> Result<(Client, Self), pjrt::Error> {
        let plugin = pjrt::Plugin::load(path)?;
        let attributes = plugin.attributes()?;
        let client = plugin.create(options)?;
        let hello = Self {
            api: plugin.version(),
            platform: client.platform().to_owned(),
            platform_version: client.platform_version().to_owned(),
            devices: client.devices(),
            attributes,
        };
        Ok((client, hello))
    }
    /// Returns the version of StableHLO that an attribute states.
    fn version(&self, name: &str) -> Option<Version> {
        let (_, value) = self.attributes.iter().find(|(known, _)| known == name)?;
        let OptionValue::Ints(numbers) = value else { return None };
        let numbers: Option<Vec<u16>> = numbers.iter().map(|&n| n.try_into().ok()).collect();
        let &[major, minor, patch] = numbers?.as_slice() else { return None };
        Some(Version::new(major, minor, patch))
    }
    /// Returns the version of StableHLO in which programs are written: that of the plugin, or the
    /// newest that can be written if that is older. If the plugin states none, a program is written
    /// for the first that has all of it.
    ///
    /// # Errors
    /// If the plugin reads only versions that cannot be written, or that are not known.
    pub(super) fn target(&self) -> Result<Option<Version>, String> {
        let (oldest, newest) = (Version::MINIMUM, Version::CURRENT);
        let target = self.version("stablehlo_current_version").map(|version| version.min(newest));
        if let Some(target) = target.filter(|target| *target < oldest) {
            return Err(format!(
                "the plugin reads StableHLO {target}; {oldest} to {newest} can be written"
            ));
        }
        match self.version("stablehlo_minimum_version").filter(|minimum| *minimum > newest) {
            Some(minimum) => Err(format!(
                "the plugin reads StableHLO from {minimum} on; {oldest} to {newest} can be written"
            )),
            None => Ok(target),
        }
    }
    /// Returns the facts that reports show.
    pub(super) fn about(&self) -> About {
        let dotted = |(name, value): &(String, OptionValue)| {
            let is_version = name.ends_with("_version") && matches!(value, OptionValue::Ints(_));
            let (text, dot) = (value.to_string(), if is_version { "." } else { "," });
            (name.clone(), text.replace(',', dot))
        };
        let mut about: About = self.attributes.iter().map(dotted).collect();
        let (major, minor) = self.api;
        for (name, value) in [
            ("pjrt_api", format!("{major}.{minor}")),
            ("platform", self.platform.clone()),
            ("platform_version", self.platform_version.clone()),
        ] {
            // XLA's version of a platform may be its name.
            if !value.is_empty() && (name != "platform_version" || value != self.platform) {
                about.0.insert(name.to_owned(), value);
            }
        }
        about
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(versions: &[(&str, [i64; 3])]) -> PluginHello {
        let attributes = versions.iter().map(|(name, numbers)| {
            (format!("stablehlo_{name}_version"), OptionValue::Ints(numbers.to_vec()))
        });
        PluginHello {
            api: (0, 81),
            platform: "cpu".to_owned(),
            platform_version: String::new(),
            devices: 1,
            attributes: attributes.collect(),
        }
    }

    #[test]
    fn programs_are_written_for_the_version_of_the_plugin() {
        let target = |versions: &[_]| hello(versions).target();
        assert_eq!(target(&[]), Ok(None));
        let stated = [("current", [1, 9, 3]), ("minimum", [0, 9, 0])];
        assert_eq!(target(&stated), Ok(Some(Version::new(1, 9, 3))));
        assert_eq!(target(&[("current", [7, 0, 0])]), Ok(Some(Version::CURRENT)));
        let future = [("current", [8, 0, 0]), ("minimum", [7, 0, 0])];
        assert!(target(&future).unwrap_err().contains("from 7.0.0 on"));
        assert!(target(&[("current", [0, 3, 0])]).unwrap_err().contains("StableHLO 0.3.0"));
        // Not a version.
        let odd = vec![("stablehlo_current_version".to_owned(), OptionValue::Ints(vec![1]))];
        assert_eq!(PluginHello { attributes: odd, ..hello(&[]) }.target(), Ok(None));
    }

    #[test]
    fn reports_show_versions() {
        let about = hello(&[("current", [1, 9, 3])]).about().to_string();
        assert_eq!(about, "pjrt_api 0.81, platform cpu, stablehlo_current_version 1.9.3");
    }
}
