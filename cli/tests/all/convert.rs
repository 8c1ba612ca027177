//! `etalon convert`, and messages of XLA as the files of other commands.
use crate::support::{Folder, expect};

const TEXT: &str = "HloModule m\nENTRY e { x = s32[2] parameter(0) c = s32[2] constant({7, 8}) ROOT r = s32[2] add(x, c) }\n";

#[test]
fn text_and_message_are_converted() {
    let folder = Folder::new("convert");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.pb"), 0, "", "");
    expect(&folder.etalon("convert m.pb again.hlo"), 0, "", "");
    expect(&folder.etalon("convert m.hlo full.txt"), 0, "", "");
    let read = |name: &str| std::fs::read(folder.0.join(name)).expect("it is written");
    assert_eq!(read("again.hlo"), read("full.txt"));
    expect(&folder.etalon("convert m.pb -"), 0, "constant({7, 8})", "");
    expect(&folder.etalon("convert m.hlo m.onnx"), 2, "", "end the name with .pb");
}

#[test]
fn commands_open_messages() {
    let folder = Folder::new("messages");
    folder.write("m.hlo", TEXT);
    expect(&folder.etalon("convert m.hlo m.pb"), 0, "", "");
    expect(&folder.etalon("check m.pb"), 0, "m.pb: ok", "");
    expect(&folder.etalon("print m.pb --style short"), 0, "ROOT r = s32[2]{0} add(x, c)", "");
    expect(&folder.etalon("print m.pb --in-place"), 2, "", "etalon convert m.pb OUT.hlo");
    expect(&folder.etalon("run m.pb --random 1"), 0, "s32[2] {", "");
    // Errors show the line of the printed module.
    folder.write(
        "wrong.hlo",
        "HloModule m\nENTRY e { x = s32[2] parameter(0) ROOT r = s32[3] add(x, x) }\n",
    );
    expect(&folder.etalon("convert wrong.hlo wrong.pb"), 0, "", "");
    expect(&folder.etalon("check wrong.pb"), 1, "", "ROOT %r = s32[3]{0} add(%x, %x)");
    let bytes = std::fs::read(folder.0.join("m.pb")).expect("it is written");
    std::fs::write(folder.0.join("cut.pb"), &bytes[..bytes.len() / 2]).expect("it is written");
    expect(&folder.etalon("check cut.pb"), 1, "", "error[E0121]: cut.pb");
}
