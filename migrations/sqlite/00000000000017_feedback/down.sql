DROP TABLE feedback;
DROP TABLE former_review_tokens;
DROP TABLE review_invitations;
