//! Semantic roles of the screen and their styles; themes are files in `assets/themes`.
