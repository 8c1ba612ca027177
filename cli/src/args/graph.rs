//! The arguments of `graph`.
use super::shared::{
    CompileArgs, CustomCallArgs, DeviceArgs, InputArgs, LimitArgs, LoadArgs, TimeArgs,
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The module; `-` for standard input.
    pub(crate) file: PathBuf,
    /// Another module, such as what a pass made of the first: the page has both beside each other, with what has changed.
    #[arg(conflicts_with_all = ["computation", "values", "profile", "of_devices"])]
    pub(crate) after: Option<PathBuf>,
    /// The output file: an .html page, an .svg picture, or .dot text for Graphviz; `-` for standard output. By default it stands
    /// beside FILE: `model.html` for `model.hlo`, and `model-new.html` for `model.hlo` and `new.hlo`.
    #[arg(long, short, value_name = "F.html|F.svg|F.dot")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file beside FILE if it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// The format of the output, if its name does not tell.
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArg>,
    /// Draw this computation, not the entry (in .svg), or not all (in .dot).
    #[arg(long, value_name = "NAME", conflicts_with = "of_devices")]
    pub(crate) computation: Option<String>,
    /// Run the module, and show the statistics of the values of its entry computation (in .html and for Model Explorer).
    #[arg(long, conflicts_with = "of_devices")]
    pub(crate) values: bool,
    /// Run the module, and show the time of each instruction (in .html and for Model Explorer).
    #[arg(long, conflicts_with = "of_devices")]
    pub(crate) profile: bool,
    /// Draw the devices and the ops that connect them: groups, and pairs of source and target. A page has them beside the dataflow.
    #[arg(long = "devices")]
    pub(crate) of_devices: bool,
    #[command(flatten)]
    pub(crate) devices: DeviceArgs,
    #[command(flatten)]
    pub(crate) inputs: InputArgs,
    #[command(flatten)]
    pub(crate) compile: CompileArgs,
    #[command(flatten)]
    pub(crate) custom_calls: CustomCallArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A page that needs no server and no other file.
    Html,
    /// A picture.
    Svg,
    /// Text for Graphviz.
    Dot,
    /// JSON for Google's Model Explorer.
    ModelExplorer,
}

impl FormatArg {
    /// Returns the format that a file name tells.
    pub(crate) fn of(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Self::Html),
            "svg" => Some(Self::Svg),
            "dot" | "gv" => Some(Self::Dot),
            _ => None,
        }
    }
    /// Returns the end of the name of a file that has no other name.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
            Self::Dot => "dot",
            Self::ModelExplorer => "json",
        }
    }
    /// Returns whether it shows what a run measured.
    pub(crate) fn is_measured(self) -> bool {
        match self {
            Self::Html | Self::ModelExplorer => true,
            Self::Svg | Self::Dot => false,
        }
    }
}
