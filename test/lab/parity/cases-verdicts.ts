import { casesOf, type Case, type Row } from "#test/lab/parity/case.ts";

const header = (name: string, regexp: string, allow_missing = false) => ({ header: name, regexp, allow_missing });
const STATUS = /Invalid HTTP response status code/;
const REGEXP = /Body (?:matched|did not match) regular expression/;
const FIELD = /Header (?:matched|did not match) regular expression/;
const MISSING = /Missing required header/;

const VERDICTS: readonly Row[] = [
  ["valid_status_codes", "http://{web}/status/404", { valid_status_codes: [404, 500] }, "success"],
  ["valid_status_codes without 200", "http://{web}/ok", { valid_status_codes: [404] }, STATUS],
  ["valid_http_versions", "http://{web}/ok", { valid_http_versions: ["HTTP/1.1", "HTTP/2.0"] }, "success"],
  [
    "valid_http_versions without this one",
    "http://{web}/ok",
    { valid_http_versions: ["HTTP/2.0"] },
    /Invalid HTTP version/,
  ],
  ["valid_http_versions HTTP/1.0", "http://{web}/http10", { valid_http_versions: ["HTTP/1.0"] }, "success"],
  ["valid_http_versions HTTP/2", "https://{h2}/bytes/10", { valid_http_versions: ["HTTP/2"] }, /Invalid HTTP version/],
  ["fail_if_ssl", "https://{secure}/ok", { fail_if_ssl: true }, /over SSL/],
  ["fail_if_ssl without TLS", "http://{web}/ok", { fail_if_ssl: true }, "success"],
  ["fail_if_not_ssl", "http://{web}/ok", { fail_if_not_ssl: true }, /not over SSL/],
  ["fail_if_not_ssl with TLS", "https://{secure}/ok", { fail_if_not_ssl: true }, "success"],
  ["a body that must not match and does", "http://{web}/ok", { fail_if_body_matches_regexp: ["w.rld"] }, REGEXP],
  ["a body that must not match and does not", "http://{web}/ok", { fail_if_body_matches_regexp: ["^x"] }, "success"],
  [
    "a body that must match and does",
    "http://{web}/ok",
    { fail_if_body_not_matches_regexp: ["^hello", "world\\n$"] },
    "success",
  ],
  [
    "a body that must match and does not",
    "http://{web}/ok",
    { fail_if_body_not_matches_regexp: ["hello", "HELLO"] },
    REGEXP,
  ],
  ["a regexp without case", "http://{web}/ok", { fail_if_body_not_matches_regexp: ["(?i)HELLO"] }, "success"],
  ["a regexp of lines", "http://{web}/lines", { fail_if_body_not_matches_regexp: ["(?m)^second$"] }, "success"],
  [
    "a regexp whose dot has no line feed",
    "http://{web}/lines",
    { fail_if_body_not_matches_regexp: ["first.second"] },
    REGEXP,
  ],
  [
    "a regexp with the flag s",
    "http://{web}/lines",
    { fail_if_body_not_matches_regexp: ["(?s)first.second"] },
    "success",
  ],
  [
    "a regexp whose $ is the end of the text",
    "http://{web}/lines",
    { fail_if_body_not_matches_regexp: ["second$"] },
    REGEXP,
  ],
  [
    "a regexp with a class",
    "http://{web}/ok",
    { fail_if_body_not_matches_regexp: ["[[:alpha:]]+\\s\\pL{5}\\b"] },
    "success",
  ],
  ["a regexp with \\z", "http://{web}/ok", { fail_if_body_not_matches_regexp: ["\\Ahello world\\n\\z"] }, "success"],
  ["invalid UTF-8 and a dot", "http://{web}/badutf8", { fail_if_body_not_matches_regexp: ["^.. hello"] }, "success"],
  [
    "invalid UTF-8 and U+FFFD",
    "http://{web}/badutf8",
    { fail_if_body_not_matches_regexp: ["^\\x{FFFD}{2}"] },
    "success",
  ],
  ["a regexp on an empty body", "http://{web}/none", { fail_if_body_not_matches_regexp: ["^$"] }, "success"],
  ["a regexp with a bad status", "http://{web}/status/500", { fail_if_body_not_matches_regexp: ["x"] }, STATUS],
  [
    "a regexp on a body that breaks off",
    "http://{web}/long",
    { fail_if_body_matches_regexp: ["nothing"] },
    /Error reading HTTP body/,
  ],
  [
    "a header that must not match and does",
    "http://{web}/ok",
    { fail_if_header_matches: [header("X-One", "1")] },
    FIELD,
  ],
  [
    "a header that must not match and does not",
    "http://{web}/ok",
    { fail_if_header_matches: [header("x-one", "2")] },
    "success",
  ],
  [
    "a header that must not match and is missing",
    "http://{web}/ok",
    { fail_if_header_matches: [header("X-No", "2")] },
    MISSING,
  ],
  [
    "a header that may be missing",
    "http://{web}/ok",
    { fail_if_header_matches: [header("X-No", "2", true)] },
    "success",
  ],
  [
    "one of two values must not match",
    "http://{web}/ok",
    { fail_if_header_matches: [header("X-Multi", "^b$")] },
    FIELD,
  ],
  [
    "a header that must match and does",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("x-one", "^1$")] },
    "success",
  ],
  [
    "a header that must match and does not",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("X-One", "2")] },
    FIELD,
  ],
  [
    "one of two values must match",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("X-Multi", "^b$")] },
    "success",
  ],
  [
    "a header that must match and is missing",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("X-No", "1")] },
    MISSING,
  ],
  [
    "a header that must match or be missing",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("X-No", "1", true)] },
    "success",
  ],
  ["an empty header", "http://{web}/ok", { fail_if_header_not_matches: [header("X-Empty", "^$")] }, "success"],
  [
    "the length as a header",
    "http://{web}/ok",
    { fail_if_header_not_matches: [header("Content-Length", "12")] },
    "success",
  ],
  [
    "a header of a bad status",
    "http://{web}/status/500",
    { fail_if_header_not_matches: [header("X-No", "1")] },
    STATUS,
  ],
];

/** Cases of the prober http: how an answer is judged. */
export const VERDICT_CASES: readonly Case[] = casesOf("http", VERDICTS);
