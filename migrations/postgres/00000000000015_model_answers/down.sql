DROP TABLE model_answers;
