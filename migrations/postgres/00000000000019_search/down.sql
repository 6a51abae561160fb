DROP FUNCTION search_note_item, search_note_text, search_note_document, search_note_transcript, search_note_segment,
  search_note_meeting CASCADE;
DROP TABLE search_pending;
DROP TABLE search_words;
DROP TABLE search_index;
DROP TABLE search_passages;
