-- Settings are JSON that PostgreSQL can read: it refuses NUL and halves of a surrogate pair, which the value of a JSON condition
-- could have, and one such row failed every statement that read it with others. They become U+FFFD, as in what is written now.
-- A backslash that is itself escaped begins no escape.
update monitors
set settings = regexp_replace(settings, '(?<!\\)((?:\\\\)*)\\u(?:d[89a-f][0-9a-f]{2}|0000)', '\1\\ufffd', 'gi')
where settings ~* '\\u(?:d[89a-f][0-9a-f]{2}|0000)';
