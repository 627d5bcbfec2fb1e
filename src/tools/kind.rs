//! What kind of file some bytes are, told by how they begin.

/// The media type of a picture that models can look at.
pub fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Beginnings and names of common formats.
const FORMATS: [(&[u8], &str); 30] = [
    (b"\x7fELF", "ELF program or library"),
    (b"%PDF", "PDF document (its text: pdftotext in bash, where installed)"),
    (b"PK\x03\x04", "ZIP archive or office document"),
    (b"PK\x05\x06", "empty ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!", "RAR archive"),
    (b"!<arch>", "static library"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"\xca\xfe\xba\xbe", "Java class or universal binary"),
    (b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (b"\xce\xfa\xed\xfe", "Mach-O program or library"),
    (b"MZ", "Windows program or library"),
    (b"\0\x01\0\0\0", "TrueType font"),
    (b"OTTO", "OpenType font"),
    (b"wOFF", "WOFF font"),
    (b"wOF2", "WOFF2 font"),
    (b"OggS", "Ogg audio or video"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"RIFF", "RIFF audio or video"),
    (b"\0\0\x01\0", "icon"),
    (b"BM", "BMP picture"),
    (b"II*\0", "TIFF picture"),
    (b"MM\0*", "TIFF picture"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
];

/// A name for bytes that are neither text nor a picture.
pub fn name(bytes: &[u8]) -> &'static str {
    if bytes.get(257..262) == Some(b"ustar") {
        return "tar archive";
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return "MP4 or related media";
    }
    let known = FORMATS.iter().find(|(start, _)| bytes.starts_with(start));
    known.map_or("binary file", |(_, name)| name)
}
