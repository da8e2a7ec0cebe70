import {
  readStampedChange,
  readWhoisDate,
  showsMonthFirst,
  type StampedChange,
  type WhoisDate,
} from "#probe-agent/analysis/registry/whois/dates.ts";
import { KEYS, SERVER_KEY } from "#probe-agent/analysis/registry/whois/keys.ts";
import type { WhoisEntry } from "#probe-agent/analysis/registry/whois/lines.ts";
import type { NameState, RegistryFormat } from "#probe-agent/analysis/registry/whois/registries.ts";
import { stateOfStatus } from "#probe-agent/analysis/registry/whois/verdict.ts";

/** Blocks about people and companies. A date or name in them is not that of the domain. */
const OTHER_BLOCKS =
  /^(?:contact|registrar|registrant|holder|titular|reseller|owner|abuse)|(?:admin|tech|billing|contact|person)/;

/** Matches the name of a host with at least one dot. */
export const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.?$/i;
/** Matches a line as in a zone file: "example.pt NS ns1.example.net.". */
const ZONE_LINE = /^\S+\s+NS\s+(\S+)$/i;
const MAX_LIST = 64;

/** Finds fields among the entries of an answer. */
export class WhoisFields {
  readonly #byKey = new Map<string, WhoisEntry[]>();
  readonly #entries: readonly WhoisEntry[];
  readonly #server: string;
  readonly #format: RegistryFormat | null;
  /** Whether a date of the answer can only have the month first: then all have. */
  readonly #isMonthFirst: boolean;

  /**
   * `server` decides how to read dates such as 03/04/2024. For a server without a name, pass the name of the object.
   */
  constructor(entries: readonly WhoisEntry[], server: string, format: RegistryFormat | null = null) {
    this.#entries = entries;
    this.#server = server;
    this.#format = format;
    for (const entry of entries) {
      const known = this.#byKey.get(entry.key);
      if (known === undefined) this.#byKey.set(entry.key, [entry]);
      else known.push(entry);
    }
    const dates = this.of([...KEYS.created, ...KEYS.updated, ...KEYS.expires]).flatMap(({ values }) => values[0] ?? []);
    this.#isMonthFirst = showsMonthFirst(dates);
  }

  /** Returns all entries of the keys, in the order of the keys. */
  of(keys: readonly string[]): readonly WhoisEntry[] {
    return keys.flatMap((key) => this.#byKey.get(key) ?? []);
  }

  /** Returns the first value under any of the keys. `within` limits the search to a block. */
  first(keys: readonly string[], within?: RegExp): string | null {
    const entries = this.of(keys).filter(({ section }) => within === undefined || within.test(section));
    return entries.find(({ values }) => values.length > 0)?.values[0] ?? null;
  }

  /** Reports whether the registry prints IANA's number after a registrar's name. */
  hasIanaBehindName(): boolean {
    return this.#format?.ianaBehindName === true;
  }

  /** Returns the entries of the keys, without those in blocks that are not about the domain. */
  own(keys: readonly string[]): readonly WhoisEntry[] {
    return this.of(keys).filter(({ section }) => !OTHER_BLOCKS.test(section));
  }

  /** Reports whether a block with this heading has any line. */
  hasBlock(heading: string): boolean {
    return this.#entries.some(
      ({ key, section, values }) => (key === heading || section === heading) && values.length > 0,
    );
  }

  /** Returns the name that the answer is about, in lower case and without a final dot. Null if there is none. */
  domain(): string | null {
    const stated = this.first(KEYS.domain) ?? this.first(["name"], /^domain$/);
    const [, name = null] = /^([^\s,;]{1,255}?)\.?(?:[\s,;]|$)/.exec(stated ?? "") ?? [];
    return name === null ? null : name.toLowerCase();
  }

  date(which: "created" | "updated" | "expires"): WhoisDate | null {
    // In the order of the text: the domain comes before its contacts and name servers, which have their own dates.
    for (const { key, section, values } of this.#entries) {
      const counts = KEYS[which].includes(key) && (!OTHER_BLOCKS.test(section) || /\bdate$/.test(key));
      const date = counts ? readWhoisDate(values[0] ?? "", this.#server, this.#isMonthFirst) : null;
      if (date !== null) return date;
    }
    return this.#loggedDate(which) ?? (which === "expires" ? this.#endInStatus() : null);
  }

  /**
   * Returns a date from lines that say who made a change and when. One of them can be the registration, marked by its
   * note.
   */
  #loggedDate(which: "created" | "updated" | "expires"): WhoisDate | null {
    if (which === "expires") return null;
    const log = (keys: readonly string[]) =>
      this.own(keys).flatMap(({ values }) => readStampedChange(values[0] ?? "") ?? []);
    const isRegistration = ({ note }: StampedChange) => note !== "" && note === this.#format?.createdNote;
    const changes = log(KEYS.updated);
    const dates =
      which === "created"
        ? [...log(KEYS.created), ...changes.filter(isRegistration)].map(({ iso }) => iso)
        : changes.flatMap((change) => (isRegistration(change) ? [] : [change.iso])).toSorted();
    const date = which === "created" ? dates[0] : dates.at(-1);
    return date === undefined ? null : { iso: date, before: false };
  }

  /**
   * Returns the end of the registration from the status, where some registries state it, e.g. "OK-UNTIL
   * 20300903121852".
   */
  #endInStatus(): WhoisDate | null {
    const until = this.#format?.until;
    if (until === undefined) return null;
    const stated = this.own([...KEYS.status, "state"]).flatMap(({ values }) => until.exec(values[0] ?? "")?.[1] ?? []);
    return readWhoisDate(stated[0] ?? "", this.#server);
  }

  /** Returns status words as printed, without the URL that explains them. */
  statuses(): string[] {
    const own = ({ section }: WhoisEntry) => !OTHER_BLOCKS.test(section) && !/name ?server/.test(section);
    const stated = this.#entries.filter((entry) => KEYS.status.includes(entry.key) && own(entry));
    const entries = [
      ...(stated.length > 0 ? stated : this.of(["state"]).filter(own)),
      ...this.of(["lock status"]),
      ...this.of(["flags"]).filter(({ section }) => section === "flags" || section === ""),
    ];
    const words = new Map<string, string>();
    const note = this.#format?.statusNote;
    for (const word of entries.flatMap(({ values }) => values.flatMap((value) => statusWords(value, note)))) {
      if (!words.has(word.toLowerCase()) && words.size < MAX_LIST) words.set(word.toLowerCase(), word);
    }
    return [...words.values()];
  }

  /**
   * Returns the stated state of a name that nobody holds, from a status or from the registry's own field. Null if none
   * is stated.
   */
  state(): NameState | null {
    const query = this.first(["query status"]);
    const { states = {}, stateLabel } = this.#format ?? {};
    const words = [...this.statuses(), ...(query === null ? [] : [query])];
    const own = stateLabel === undefined ? words : this.of([stateLabel]).flatMap(({ values }) => values.slice(0, 1));
    for (const word of own) {
      const state = Object.hasOwn(states, word.toLowerCase()) ? states[word.toLowerCase()] : undefined;
      if (state !== undefined) return state;
    }
    return words.map(stateOfStatus).find((state) => state !== null) ?? null;
  }

  /** Returns the name servers in lower case, without a final dot and without addresses. */
  nameservers(): string[] {
    const domain = this.domain();
    const found = new Set<string>();
    for (const { key, section, values } of this.#entries) {
      if (!SERVER_KEY.test(key) && !(SERVER_KEY.test(section) && key === "name")) continue;
      for (const [index, value] of values.entries()) {
        // The key's own line can have several hosts. Each line below it begins with one.
        const hosts = ZONE_LINE.exec(value)?.[1] ?? value;
        for (const token of hosts.split(/[\s,;()[\]]+/, index === 0 ? 40 : 1)) {
          const host = token.toLowerCase().replace(/\.$/, "");
          const isItself = key === "dns" && host === domain; // .dk prints the Unicode name with this key
          const isHost = HOST_NAME.test(token) && !isItself && host !== this.#format?.empty;
          if (isHost && found.size < MAX_LIST) found.add(host);
        }
      }
    }
    return [...found];
  }

  registryId(): string | null {
    return this.first(KEYS.registryId);
  }

  /** Returns the server that is said to know more, as printed. Null if there is none. */
  referral(): string | null {
    return this.first(KEYS.referral);
  }
}

function statusWords(text: string, note = ""): string[] {
  const end = note === "" ? -1 : `${text} `.indexOf(`${note} `);
  const value = end === -1 ? text : text.slice(0, end);
  const pieces = value.split(/\(?https?:\/\/[^\s)]*\)?/i);
  const bare = pieces
    .map((piece, index) => (index < pieces.length - 1 ? piece.trimEnd() : piece))
    .join("")
    .replace(/#\d+$/, "")
    .trim();
  // .ru prints "REGISTERED, DELEGATED, VERIFIED".
  const parts = /^[\w -]{1,40}(?:, [\w -]{1,40})+$/.test(bare) ? bare.split(", ") : [bare];
  return parts.filter((part) => part !== "" && part.length <= 120);
}
