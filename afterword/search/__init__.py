"""One search over people, responses, queue items, questionnaires and cases."""
