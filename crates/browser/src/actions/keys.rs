//! Keys by name: values of `KeyboardEvent.key` (W3C UI Events) and common aliases.

use std::borrow::Cow;

use serde_json::{Value, json};

/// Modifier bits of the protocol.
const ALT: u8 = 1;
const CONTROL: u8 = 2;
const META: u8 = 4;
pub(crate) const SHIFT: u8 = 8;

/// A key of the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// `KeyboardEvent.key`.
    pub(crate) key: Cow<'static, str>,
    /// `KeyboardEvent.code`: the position on an American keyboard.
    pub(crate) code: Cow<'static, str>,
    /// `KeyboardEvent.keyCode`; 0 for keys that have none.
    pub(crate) number: u16,
    /// Text that the key types.
    pub(crate) text: Option<String>,
}

/// A key with its modifiers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Stroke {
    pub(crate) modifiers: Vec<Key>,
    pub(crate) key: Key,
}

impl Key {
    /// Returns the modifier bit of the key; 0 if it is no modifier.
    pub(crate) fn bit(&self) -> u8 {
        match self.key.as_ref() {
            "Alt" => ALT,
            "Control" => CONTROL,
            "Meta" => META,
            "Shift" => SHIFT,
            _ => 0,
        }
    }

    /// Returns the parameters of `Input.dispatchKeyEvent` for the key with the modifiers `held`.
    pub(crate) fn event(&self, is_down: bool, held: u8) -> Value {
        // With modifiers other than Shift a key is a shortcut and types nothing.
        let text = self.text.as_deref().filter(|_| is_down && held & !SHIFT == 0);
        let kind = match (is_down, text) {
            (false, _) => "keyUp",
            (true, Some(_)) => "keyDown",
            (true, None) => "rawKeyDown",
        };
        let mut event = json!({"type": kind, "modifiers": held, "key": self.key, "code": self.code,
            "windowsVirtualKeyCode": self.number});
        if let Some(text) = text {
            event["text"] = text.into();
        }
        // Chromium leaves this shortcut to the operating system's text input, which a headless browser lacks.
        if is_down && held == CONTROL && self.key.eq_ignore_ascii_case("a") {
            event["commands"] = json!(["selectAll"]);
        }
        event
    }
}

/// Parses `Enter`, `a`, `Control+A`, `Shift++`.
pub(crate) fn parse(text: &str) -> Option<Stroke> {
    let (held, last) = match text.strip_suffix("++") {
        Some(held) => (held, "+"),
        None => text.rsplit_once('+').filter(|(_, last)| !last.is_empty()).unwrap_or(("", text)),
    };
    let names = held.split('+').filter(|name| !name.is_empty());
    let modifiers: Option<Vec<_>> = names.map(|name| named(name.trim()).filter(|key| key.bit() != 0)).collect();
    let modifiers = modifiers?;
    let bits = modifiers.iter().fold(0, |bits, key| bits | key.bit());
    let mut key = single(last)?;
    let letter = key.text.as_deref().and_then(|text| text.chars().next()).filter(char::is_ascii_alphabetic);
    if let Some(letter) = letter.filter(|_| bits != 0) {
        // `Control+A` is written with a capital letter but pressed without Shift.
        let letter = if bits & SHIFT != 0 { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        key = of_char(letter)?;
    }
    Some(Stroke { modifiers, key })
}

fn single(name: &str) -> Option<Key> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(of_char(c).unwrap_or_else(|| Key {
            key: c.to_string().into(),
            code: "".into(),
            number: 0,
            text: Some(c.to_string()),
        }));
    }
    named(name.trim()).or_else(|| of_code(name.trim()))
}

/// Returns the key that types a character on an American keyboard.
pub(crate) fn of_char(c: char) -> Option<Key> {
    let key = |code: Cow<'static, str>, number: u16| {
        Some(Key { key: c.to_string().into(), code, number, text: Some(c.to_string()) })
    };
    match c {
        '\n' | '\r' => named("Enter"),
        '\t' => named("Tab"),
        'a'..='z' | 'A'..='Z' => {
            let upper = c.to_ascii_uppercase();
            key(format!("Key{upper}").into(), u16::try_from(u32::from(upper)).ok()?)
        }
        '0'..='9' => key(format!("Digit{c}").into(), u16::try_from(u32::from(c)).ok()?),
        _ => {
            let (_, _, code, number) = PUNCTUATION.iter().find(|(plain, shifted, ..)| *plain == c || *shifted == c)?;
            key((*code).into(), *number)
        }
    }
}

// Codes by W3C "UI Events KeyboardEvent code Values", numbers as in `keyCode` of Windows (UI Events, "Legacy key
// attributes"), both for an American keyboard.

/// Keys of punctuation: character, character with Shift, code, number.
const PUNCTUATION: &[(char, char, &str, u16)] = &[
    (' ', ' ', "Space", 32),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    ('0', ')', "Digit0", 48),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// Named keys: name, code, number, text.
const NAMED: &[(&str, &str, u16, Option<&str>)] = &[
    ("Enter", "Enter", 13, Some("\r")),
    ("Tab", "Tab", 9, None),
    ("Escape", "Escape", 27, None),
    ("Backspace", "Backspace", 8, None),
    ("Delete", "Delete", 46, None),
    ("Insert", "Insert", 45, None),
    ("Home", "Home", 36, None),
    ("End", "End", 35, None),
    ("PageUp", "PageUp", 33, None),
    ("PageDown", "PageDown", 34, None),
    ("ArrowLeft", "ArrowLeft", 37, None),
    ("ArrowUp", "ArrowUp", 38, None),
    ("ArrowRight", "ArrowRight", 39, None),
    ("ArrowDown", "ArrowDown", 40, None),
    ("Shift", "ShiftLeft", 16, None),
    ("Control", "ControlLeft", 17, None),
    ("Alt", "AltLeft", 18, None),
    ("AltGraph", "AltRight", 225, None),
    ("Meta", "MetaLeft", 91, None),
    ("CapsLock", "CapsLock", 20, None),
    ("NumLock", "NumLock", 144, None),
    ("ScrollLock", "ScrollLock", 145, None),
    ("Pause", "Pause", 19, None),
    ("PrintScreen", "PrintScreen", 44, None),
    ("ContextMenu", "ContextMenu", 93, None),
    ("Clear", "NumLock", 12, None),
    ("Help", "Help", 47, None),
    ("Select", "Select", 41, None),
    ("Cancel", "Abort", 3, None),
    ("Convert", "Convert", 28, None),
    ("NonConvert", "NonConvert", 29, None),
    ("Accept", "", 30, None),
    ("ModeChange", "", 31, None),
    ("KanaMode", "KanaMode", 21, None),
    ("HangulMode", "Lang1", 21, None),
    ("HanjaMode", "Lang2", 25, None),
    ("BrowserBack", "BrowserBack", 166, None),
    ("BrowserForward", "BrowserForward", 167, None),
    ("BrowserRefresh", "BrowserRefresh", 168, None),
    ("BrowserStop", "BrowserStop", 169, None),
    ("BrowserSearch", "BrowserSearch", 170, None),
    ("BrowserFavorites", "BrowserFavorites", 171, None),
    ("BrowserHome", "BrowserHome", 172, None),
    ("AudioVolumeMute", "AudioVolumeMute", 173, None),
    ("AudioVolumeDown", "AudioVolumeDown", 174, None),
    ("AudioVolumeUp", "AudioVolumeUp", 175, None),
    ("MediaTrackNext", "MediaTrackNext", 176, None),
    ("MediaTrackPrevious", "MediaTrackPrevious", 177, None),
    ("MediaStop", "MediaStop", 178, None),
    ("MediaPlayPause", "MediaPlayPause", 179, None),
    ("LaunchMail", "LaunchMail", 180, None),
    ("LaunchMediaPlayer", "MediaSelect", 181, None),
    ("LaunchApplication1", "LaunchApp1", 182, None),
    ("LaunchApplication2", "LaunchApp2", 183, None),
    ("Attn", "", 246, None),
    ("CrSel", "", 247, None),
    ("ExSel", "", 248, None),
    ("EraseEof", "", 249, None),
    ("Play", "", 250, None),
    ("ZoomToggle", "", 251, None),
    // Most of these have no key code.
    ("Copy", "Copy", 0, None),
    ("Cut", "Cut", 0, None),
    ("Paste", "Paste", 0, None),
    ("Undo", "Undo", 0, None),
    ("Redo", "", 0, None),
    ("Again", "Again", 0, None),
    ("Find", "Find", 0, None),
    ("Props", "Props", 0, None),
    ("Fn", "Fn", 0, None),
    ("FnLock", "FnLock", 0, None),
    ("Hyper", "", 0, None),
    ("Super", "", 0, None),
    ("Symbol", "", 0, None),
    ("SymbolLock", "", 0, None),
    ("Execute", "", 43, None),
    ("Finish", "", 0, None),
    ("Compose", "", 0, None),
    ("Dead", "", 0, None),
    ("Process", "", 229, None),
    ("Power", "Power", 0, None),
    ("Standby", "", 0, None),
    ("WakeUp", "WakeUp", 0, None),
    ("Sleep", "Sleep", 95, None),
    ("Eject", "Eject", 0, None),
    ("ZoomIn", "", 0, None),
    ("ZoomOut", "", 0, None),
    ("BrightnessDown", "BrightnessDown", 216, None),
    ("BrightnessUp", "BrightnessUp", 217, None),
    ("GoBack", "", 0, None),
    ("GoHome", "", 0, None),
    ("Unidentified", "", 0, None),
];

/// Aliases of key names, in lower case.
const ALIASES: &[(&str, &str)] = &[
    ("return", "Enter"),
    ("esc", "Escape"),
    ("del", "Delete"),
    ("ins", "Insert"),
    ("bksp", "Backspace"),
    ("left", "ArrowLeft"),
    ("up", "ArrowUp"),
    ("right", "ArrowRight"),
    ("down", "ArrowDown"),
    ("pgup", "PageUp"),
    ("page_up", "PageUp"),
    ("pgdn", "PageDown"),
    ("pgdown", "PageDown"),
    ("page_down", "PageDown"),
    ("ctrl", "Control"),
    ("controlormeta", "Control"),
    ("controlleft", "Control"),
    ("controlright", "Control"),
    ("cmd", "Meta"),
    ("command", "Meta"),
    ("win", "Meta"),
    ("windows", "Meta"),
    ("os", "Meta"),
    ("metaleft", "Meta"),
    ("metaright", "Meta"),
    ("option", "Alt"),
    ("opt", "Alt"),
    ("altleft", "Alt"),
    ("altright", "AltGraph"),
    ("altgr", "AltGraph"),
    ("shiftleft", "Shift"),
    ("shiftright", "Shift"),
    ("caps", "CapsLock"),
    ("apps", "ContextMenu"),
    ("menu", "ContextMenu"),
    ("volumeup", "AudioVolumeUp"),
    ("volumedown", "AudioVolumeDown"),
    ("volumemute", "AudioVolumeMute"),
    ("numpadenter", "Enter"),
];

/// Returns a key by a name of several characters, ignoring case.
fn named(name: &str) -> Option<Key> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    if name.eq_ignore_ascii_case("space") || name.eq_ignore_ascii_case("spacebar") {
        return of_char(' ');
    }
    if let Some(number) = function_key(name) {
        let name = format!("F{number}");
        return Some(Key { key: name.clone().into(), code: name.into(), number: 111 + number, text: None });
    }
    let (key, code, number, text) = NAMED.iter().find(|(key, ..)| key.eq_ignore_ascii_case(name))?;
    Some(Key { key: (*key).into(), code: (*code).into(), number: *number, text: text.map(str::to_owned) })
}

/// Parses `F1` to `F24`.
fn function_key(name: &str) -> Option<u16> {
    let digits = name.strip_prefix(['F', 'f'])?;
    digits.parse().ok().filter(|number| (1..=24).contains(number))
}

/// Returns a key by its code: `KeyA`, `Digit1`, `Numpad5`, `Semicolon`.
fn of_code(code: &str) -> Option<Key> {
    let only = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    if let Some(letter) = code.strip_prefix("Key").and_then(only).filter(char::is_ascii_uppercase) {
        return of_char(letter.to_ascii_lowercase());
    }
    let digit = code.strip_prefix("Digit").or(code.strip_prefix("Numpad")).and_then(only);
    if let Some(digit) = digit.filter(char::is_ascii_digit) {
        return of_char(digit);
    }
    let (plain, ..) = PUNCTUATION.iter().find(|(_, _, known, _)| *known == code)?;
    of_char(*plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, held: &[&str], key: &str, code: &str, number: u16) {
        let stroke = parse(text).unwrap_or_else(|| panic!("{text} is no key"));
        let modifiers: Vec<_> = stroke.modifiers.iter().map(|key| key.key.as_ref()).collect();
        let found = (modifiers.as_slice(), stroke.key.key.as_ref(), stroke.key.code.as_ref(), stroke.key.number);
        assert_eq!(found, (held, key, code, number), "{text}");
    }

    #[test]
    fn keys_are_known_by_their_names() {
        check("Enter", &[], "Enter", "Enter", 13);
        check("return", &[], "Enter", "Enter", 13);
        check("ESC", &[], "Escape", "Escape", 27);
        check("ArrowDown", &[], "ArrowDown", "ArrowDown", 40);
        check("Space", &[], " ", "Space", 32);
        check("F12", &[], "F12", "F12", 123);
        check("KeyQ", &[], "q", "KeyQ", 81);
        check("Semicolon", &[], ";", "Semicolon", 186);
        check("ä", &[], "ä", "", 0);
        check("+", &[], "+", "Equal", 187);
    }

    #[test]
    fn others_may_be_held_down() {
        check("Control+A", &["Control"], "a", "KeyA", 65);
        check("ctrl+shift+t", &["Control", "Shift"], "T", "KeyT", 84);
        check("Shift++", &["Shift"], "+", "Equal", 187);
        check("Alt+ArrowLeft", &["Alt"], "ArrowLeft", "ArrowLeft", 37);
        for text in ["Enterr", "A+B", "F25", "F0", "", "Control+", "Hello+A"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
