import { Parser } from "htmlparser2";
import { HOSTILE_TEXT } from "#test/support/dashboard-world.ts";
import type { FormFields } from "#test/support/dashboard.ts";

/** A form of a page. */
export interface FoundForm {
  /** Path that it is sent to. */
  readonly action: string;
  /** What a browser sends without a button. */
  readonly fields: FormFields;
  /** Names of everything in it, also of what only a checked box or a button sends. */
  readonly names: readonly string[];
}

/** Returns the forms of a page that are sent by POST. */
export function readForms(html: string): readonly FoundForm[] {
  const found: { action: string; fields: Record<string, string[]>; names: Set<string> }[] = [];
  let form: (typeof found)[number] | null = null;
  let area: string | null = null;
  let select: { readonly name: string; value: string | null } | null = null;
  const add = (name: string, value: string) => void (form !== null && (form.fields[name] ??= []).push(value));
  const parser = new Parser({
    onopentag(tag, { name = "", value = "", type = "text", action, method, ...rest }) {
      if (tag === "form" && method === "post" && action !== undefined) {
        form = { action, fields: {}, names: new Set() };
        found.push(form);
      }
      if (form === null) return;
      if (name !== "") form.names.add(name);
      if (tag === "textarea") area = name;
      else if (tag === "select") select = { name, value: null };
      else if (tag === "option" && select !== null) select.value = "selected" in rest ? value : (select.value ?? value);
      else if (tag === "input" && (!["checkbox", "radio"].includes(type) || "checked" in rest)) add(name, value);
    },
    ontext(text) {
      if (area !== null && form !== null) form.fields[area] = [`${form.fields[area]?.[0] ?? ""}${text}`];
    },
    onclosetag(tag) {
      if (tag === "form") form = null;
      // A line feed right after the tag belongs to the markup.
      if (tag === "textarea" && area !== null && form !== null)
        form.fields[area] = [(form.fields[area]?.[0] ?? "").replace(/^\n/, "")];
      if (tag === "textarea") area = null;
      if (tag === "select" && select !== null) add(select.name, select.value ?? "");
      if (tag === "select") select = null;
    },
  });
  parser.end(html);
  return found.map(({ names, ...rest }) => ({ ...rest, names: [...names] }));
}

/** Values of which each breaks one kind of code: every field of every form gets them. */
export const HOSTILE_VALUES: readonly string[] = [
  // PostgreSQL stores no NUL.
  "a\0b",
  "\u202Egnp.exe\u200B",
  HOSTILE_TEXT,
  "a".repeat(20_000),
  // Numbers beyond those of PostgreSQL and of JavaScript.
  "-1",
  "999999999999999",
  // After the last day that a date can have.
  "275760-09-13T00:00:00.001Z",
  // Half of a pair, as JSON writes it.
  '"\\ud800"',
];

/** Values for all fields at once. */
export const MORE_HOSTILE_VALUES: readonly string[] = [
  ...HOSTILE_VALUES,
  "\0",
  "",
  "a\r\n, ".repeat(1_000),
  "9".repeat(400),
  "1e9",
  "Europe/Nowhere",
  "__proto__",
  "nan",
  "99999999999",
  "0000-01-01 00:00",
  "https://[::1",
  "javascript:alert(1)",
  " ",
  "\uFFFE\uFEFF",
  "0",
  "-0",
  "00",
  "١٢",
  "Infinity",
  "-Infinity",
  "9007199254740993",
  "0x10",
  "1,".repeat(3_000),
  "\u{1F468}\u200D".repeat(3_000),
  "2026-02-30T25:61:61Z",
  "+275760-09-13T00:00:00.001Z",
  "-000001-01-01T00:00:00Z",
  "0-0",
  "99999999999999-999999999999999",
  "'; drop table monitors; --",
  "../../etc/passwd",
  "\r\nset-cookie: a=b",
  "constructor",
  "(a+)+$",
  "[]",
  "{}",
  "null",
  "true",
  "%00%ff",
  "<%= it %>",
  "http://\u0661.example/\\@",
];

/** Returns what an answer shows of the inside of the service; null: nothing. */
export function insideOf(text: string): string | null {
  return (
    /PostgresError|invalid byte sequence|node_modules|\.ts:\d|\bat (?:async )?[\w.]+ \(|Internal error|\[object |>undefined<|"undefined"|>#?NaN\b|"NaN\b|Invalid Date/.exec(
      text,
    )?.[0] ?? null
  );
}

/** Names in the queries of pages, and names that objects have without being asked. */
export const QUERY_NAMES: readonly string[] =
  "q state kind tag sort rows page monitor range before after location verdict from next at locations share done host url type __proto__ constructor".split(
    " ",
  );

/** Queries that are broken, repeat names, or lead far away. */
export const HOSTILE_QUERIES: readonly string[] = [
  "q=%",
  "q=%00&location=%00",
  "location=%ff&tag=%ff",
  "q=%ED%A0%80&location=%ED%A0%80",
  "q[]=1&q[a][b][c]=1&page[]=2",
  "q=1&q=2&page=1&page=2&from=1&from=2&monitor=1&monitor=2&next=1&next=2&location=a&location=b&kind=http&kind=dns",
  "&&&=&=1&",
  "?".repeat(500),
  "a=1&".repeat(3_000),
  "page=99999&monitor=999999999999999",
  "page=-1",
  "page=1e9",
  "page=999999",
  "before=99999999999999-999999999999999",
  "after=99999999999999-0",
  "before=0-0&after=0-0",
];

/** Segments of a path in place of an id. */
export const HOSTILE_IDS: readonly string[] = [
  "0",
  "-1",
  "00",
  "01",
  "1.0",
  "1e3",
  "1;2",
  "'",
  "null",
  "__proto__",
  "constructor",
  "999999999999999",
  "9999999999999999",
  "9".repeat(400),
  "9".repeat(600),
  "%00",
  "1%00",
  "..%2f..",
  "%ff",
  "%E0%A4%A",
  "%ED%A0%80",
  "%D9%A1",
  "%201",
  "%3Cscript%3E",
];

const FORM = "application/x-www-form-urlencoded";

/** Bodies with their types; TOKEN is replaced by the session's `_csrf`. */
export const HOSTILE_BODIES: readonly (readonly [type: string, body: string])[] = [
  [FORM, ""],
  [FORM, `_csrf=TOKEN${"&name=a".repeat(998)}`],
  [FORM, `_csrf=TOKEN${"&name=a".repeat(2_000)}`],
  [FORM, `_csrf=TOKEN${"&".repeat(900)}=`],
  [FORM, "_csrf=TOKEN&a[b][c][d]=1&name[]=2&ids[0]=1"],
  [FORM, "_csrf=TOKEN&name=%ff%fe%&find=%"],
  [FORM, "_csrf=TOKEN&%00=1"],
  [FORM, "_csrf=TOKEN&_csrf=other&name=a&name=b"],
  [`${FORM}; charset=utf-16`, "_csrf=TOKEN"],
  ["application/json", `{"_csrf":"TOKEN"}`],
  ["application/json", "{"],
  ["multipart/form-data; boundary=x", `--x\r\ncontent-disposition: form-data; name="_csrf"\r\n\r\nTOKEN\r\n--x--`],
  ["text/plain", "_csrf=TOKEN"],
  ["a/b/c;;", "_csrf=TOKEN"],
];

/** Cookies that name no session. */
export const HOSTILE_COOKIES: readonly string[] = [
  "vantage_session=",
  "vantage_session=%00",
  "vantage_session=%ff%",
  `vantage_session=${"a".repeat(12_000)}`,
  `vantage_session="`,
  "vantage_session=a; vantage_session=b",
  "__proto__=1; constructor=2",
  "a=1;".repeat(3_000),
  "=;;=",
];

/** Bodies of half a megabyte and more. */
export const LARGE_BODIES: readonly (readonly [type: string, body: string])[] = [
  [FORM, `_csrf=TOKEN&name=${"a".repeat(1_000_000)}`],
  [FORM, `_csrf=TOKEN&name=${"a".repeat(1_100_000)}`],
  [FORM, `_csrf=TOKEN&lines=${`https://a.example/${"a".repeat(10_000)}%0a`.repeat(50)}`],
  [FORM, `_csrf=TOKEN&do=apply&is_active=no&ids=${"1,".repeat(200_000)}`],
];
