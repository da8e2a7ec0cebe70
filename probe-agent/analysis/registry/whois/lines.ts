import { withoutTrailing } from "#shared/text/strip-trailing.ts";
import { isKnownLabel } from "#probe-agent/analysis/registry/whois/keys.ts";
import { splitNote } from "#probe-agent/analysis/registry/whois/note.ts";

/** One field of a WHOIS answer, with the lines that belong to it. */
export interface WhoisEntry {
  /** Key in lower case, with one space between words: "Last-Update....:" becomes "last update". */
  readonly key: string;
  /** Key of the block that contains the field, empty outside of blocks. "contact" in objects about people. */
  readonly section: string;
  /** Value next to the key and the lines below it without their own key. Blank lines are left out. */
  readonly values: readonly string[];
}

/** A parsed WHOIS answer. */
interface WhoisText {
  readonly entries: readonly WhoisEntry[];
  /**
   * Every line that is not blank, without comment marks and without lines about people and addresses. Statements in
   * words are found here.
   */
  readonly prose: readonly string[];
}

// An answer of 256 KB can have many more lines; registrations have a few hundred.
const MAX_LINES = 5_000;
const MAX_LINE = 1_000;
const MAX_VALUES = 64;

/** "[Key]" of JPRS, which numbers the fields of some kinds of domain ("p. [Name Server]"), and "a [Key]" of MYNIC. */
const BRACKETED = /^(?:[a-z](?:\. ?| {1,3}))?\[([^\]]{1,60})\]/;
/**
 * Lines of some registries without a colon: "Record expires on 2025-01-02", "Record expires on Sun Mar 30 23:59:00
 * 2031", "Registered on 01st January 2000 at ...", "Domain EXAMPLE.KG (ACTIVE)".
 */
const SPOKEN =
  /^(record (?:created|expires|last updated) on|registered on)\s+((?:\d|(?:mon|tue|wed|thu|fri|sat|sun)\b).*)$/i;
const SPOKEN_DOMAIN = /^domain\s+([a-z0-9][a-z0-9.-]{0,252}\.[a-z0-9-]{2,63})(?:\s+\(([a-z ,-]{1,100})\))?$/i;
/** "Registrar#. . . . cerist" of JWhoisServer. */
const DOTTED = /^([^#:]{1,60})#( ?\. ?\..*)$/;
/**
 * Labels without a colon: "Last-update            2013-05-07" in columns, "Domain Name.......... example.ai" filled with
 * dots. Prose has such lines too, so the label must be known.
 */
const COLUMNS = /^(\p{L}[\p{L}\d_-]{0,30}(?: [\p{L}\d_-]{1,30}){0,4}) {2,}([^\s:].*)$/u;
const FILLED = /^(\p{L}[^.:#]{0,60}?)(?: ?\.){3,} *([^\s:.].*)$/u;
/** "domain:Domain-Name:example.ma" and "domain:Created;I:20010101" of RWhois (RFC 2167, section 3.3). */
const OF_CLASS = /^([a-z][a-z-]{0,30}):([a-z][\w-]{0,60})(?:;[a-z])?:(.*)$/i;
const RWHOIS = /^%rwhois\b/i;
/** Numbers before labels: "1a. domain", "10. Name Server". */
const NUMBER = /^\d{1,2}[a-z]{0,2}\. {1,3}(?=\p{L})/u;
/** A tag of YAML, on the line before a value or before it on its line. */
const TAG_LINE = /^!(?:[\w./:!-]{0,80}|<[^<>]{1,100}>)$/;
const YAML = /^(?:%YAML\b|(?:--- )?!(?:[\w./:!-]{1,80}|<[^<>]{1,100}>)$)/;
const TAG = /^!(?:[\w./:!-]{0,80}|<[^<>]{1,100}>) +/;
const QUOTED = /^(["'])([^"']*)\1$/;
/** Headings that need no colon. */
const HEADINGS =
  /^(?:(?:primary |secondary )?name ?servers?(?: information)?|registrar|registrant|holder|dnssec|organization using domain name|(?:admin|tech)(?:nical|inistrative)? contacts?)$/i;
/** First field of an object about people or bodies, in registries that answer in objects (RFC 2622 section 2). */
const CONTACT_OBJECTS =
  /^(?:nic hdl(?: br)?|nic handle|contact id|person|personname|role|contact|organi[sz]ation|irt|mntner)$/;
/** Fields and blocks about people. Their lines ("NOT AVAILABLE") do not describe the domain. */
const ABOUT_PEOPLE =
  /^(?:contact|registrant|holder|reseller|owner|abuse|titular|(?:street |postal )?address|street|city|state|province|country|postal code|phone|telephone|tel|fax|e ?mail|organi[sz]ation|company|descr)\b|(?:admin|tech|billing|contact|person)/;
const HOST_FIRST = /^[a-z0-9_](?:[a-z0-9_-]{0,62}\.)+[a-z0-9-]{2,63}\.?(?:[\s,([]|$)/i;
const NAME_SERVERS = /^(?:(?:primary|secondary|domain) )?(?:name ?servers?|nserver|servers?|dns)\b/;

interface Open extends WhoisEntry {
  readonly values: string[];
}

/** Parses "key: value" in all its forms: dotted, bracketed, indented under headings, in blocks and in objects. */
export function readWhoisLines(text: string): WhoisText {
  const reader = new LineReader();
  for (const raw of text.split(/\r\n|\n|\r/, MAX_LINES)) {
    const line = raw
      .slice(0, MAX_LINE)
      .replaceAll("\t", "        ")
      .replaceAll(/\p{Cc}/gu, " ");
    reader.read(line);
  }
  return reader;
}

class LineReader implements WhoisText {
  readonly entries: Open[] = [];
  readonly prose: string[] = [];
  #current: Open | null = null;
  /** The current heading. A bare heading owns its lines at any depth and ends at a blank line. */
  #heading: { readonly key: string; readonly indent: number; readonly bare: boolean } | null = null;
  /** Kind of the object that the lines since the last blank line form. */
  #object = "";
  #objects = 0;
  #afterBlank = true;
  #isRwhois = false;
  /** In YAML, the depth of a line alone says what it belongs to. */
  #isYaml = false;

  read(line: string): void {
    const said = line.trim();
    if (said === "") return this.#blank();
    if (YAML.test(said)) this.#isYaml = true;
    if (TAG_LINE.test(said)) return;
    if (RWHOIS.test(said)) this.#isRwhois = true;
    if (/^(?:[%#;]|>>>|--)/.test(said)) {
      this.prose.push(said.replace(/^[%#;>\s-]+/, ""));
      return;
    }
    const bare = said.replace(/^(?:\*+\s*|-\s+)/, "");
    const indent = line.length - line.trimStart().length;
    const current = this.#current;
    const field = fieldOf(bare, { among: NAME_SERVERS.test(current?.key ?? ""), isRwhois: this.#isRwhois });
    const [, domain, status] = SPOKEN_DOMAIN.exec(bare) ?? [];
    if (domain !== undefined) {
      this.#add("domain", domain, indent);
      if (status !== undefined) this.#add("status", status, indent);
    } else if (field !== null) {
      if (field.bracketed === true) this.#heading = null;
      if (field.class !== undefined) this.#object = CONTACT_OBJECTS.test(field.class) ? "contact" : "";
      this.#add(field.key, field.value, indent, field.class === undefined);
      const isBare = bare !== said || HEADINGS.test(field.key) || field.key === "domain" || field.bracketed === true;
      if (field.value === "") this.#heading = { key: field.key, indent, bare: isBare && !this.#isYaml };
    } else if (HEADINGS.test(inEnglish(bare)) && (current === null || current.values.length > 0)) {
      this.#add(normal(bare), "", indent);
      this.#heading = { key: normal(bare), indent, bare: true };
    } else if (current !== null && current.values.length < MAX_VALUES) current.values.push(bare);
    if (!isAboutPeople(this.#current)) this.prose.push(bare);
    this.#afterBlank = false;
  }

  #blank(): void {
    this.#afterBlank = true;
    // A blank line can separate a heading from its lines, but not from fields at its own depth. A heading that already
    // has lines ends here.
    const waits = this.#heading !== null && this.#current?.values.length === 0;
    this.#heading = waits && this.#heading !== null ? { ...this.#heading, bare: false } : null;
    if (!waits) this.#current = null;
  }

  #add(key: string, value: string, indent: number, beginsObject = true): void {
    if (this.#afterBlank && beginsObject) {
      this.#objects += 1;
      const isRegistrar = this.#objects > 1 && key === "registrar";
      this.#object = CONTACT_OBJECTS.test(key) ? "contact" : isRegistrar ? "registrar" : "";
    }
    if (this.#heading !== null && !this.#heading.bare && indent <= this.#heading.indent) this.#heading = null;
    this.#current = { key, section: this.#heading?.key ?? this.#object, values: value === "" ? [] : [value] };
    this.entries.push(this.#current);
  }
}

function isAboutPeople(entry: WhoisEntry | null): boolean {
  return entry !== null && (ABOUT_PEOPLE.test(entry.section) || ABOUT_PEOPLE.test(entry.key));
}

interface Field {
  readonly key: string;
  readonly value: string;
  /**
   * Whether the form is "[Key] value". Without a value, it is the heading of the lines up to the next such key or blank
   * line.
   */
  readonly bracketed?: true;
  /** Class of the object, in the form "class:key:value". */
  readonly class?: string;
}

/** `among`: the lines before are name servers. `isRwhois`: every field has its class. */
function fieldOf(
  line: string,
  { among, isRwhois }: { readonly among: boolean; readonly isRwhois: boolean },
): Field | null {
  const [head = "", bracketed] = BRACKETED.exec(line) ?? [];
  if (bracketed !== undefined)
    return { key: normal(bracketed), value: line.slice(head.length).trim(), bracketed: true };
  const [, spoken, on = ""] = SPOKEN.exec(line) ?? [];
  if (spoken !== undefined) return { key: normal(spoken), value: on };
  const [, dotted, stated = ""] = DOTTED.exec(line) ?? [];
  if (dotted !== undefined) return { key: normal(dotted), value: withoutLeaders(stated) };
  // "ns1.example.uk 2001:db8::1" is not a field.
  if (among && HOST_FIRST.test(line)) return null;
  const [, column = "", inColumn = ""] = COLUMNS.exec(line) ?? FILLED.exec(line) ?? [];
  if (column !== "" && isKnownLabel(normal(column)) && !LABELLED.test(inColumn)) {
    return { key: normal(column), value: withoutLeaders(inColumn) };
  }
  const [, kind = "", attribute = "", ofClass = ""] = OF_CLASS.exec(line) ?? [];
  if (
    kind !== "" &&
    !ofClass.startsWith("//") &&
    (isRwhois || (kind === "domain" && isKnownLabel(normal(attribute))))
  ) {
    return { key: normal(attribute), value: ofClass.trim(), class: kind.toLowerCase() };
  }
  const colon = line.indexOf(":");
  if (colon < 1 || colon > 70 || line.startsWith("//", colon + 1)) return null;
  const key = normal(line.slice(0, colon).replace(NUMBER, ""));
  return /^\p{L}/u.test(key) ? { key, value: withoutLeaders(line.slice(colon + 1)) } : null;
}

/** A value that is a field itself: the blanks before it are no column. */
const LABELLED = /^[\p{L} ]{1,30}:(?: |$)/u;

/** Removes what stands before a value, the dots of "REGISTRAR:.......cerist" and a tag of YAML, and quotes around it. */
function withoutLeaders(value: string): string {
  const leaders = /^(?: ?\.){2,}/.exec(value)?.[0] ?? "";
  const bare = value.slice(leaders.length).trim().replace(TAG, "");
  return QUOTED.exec(bare)?.[2] ?? bare;
}

/** Returns the English part of a label: in "Nome de domínio / Domain Name", the part after the last such slash. */
function inEnglish(label: string): string {
  return label.slice(label.lastIndexOf(" / ") + 1).replace(/^\/ /, "");
}

function normal(key: string): string {
  const bare = inEnglish(splitNote(key, "()")?.bare ?? key);
  return withoutTrailing(bare, (character) => character === "." || character.trim() === "")
    .replaceAll(/[\s_-]+/g, " ")
    .trim()
    .toLowerCase();
}
