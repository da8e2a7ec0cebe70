import { isFreeStatus } from "#probe-agent/analysis/whois/verdict.ts";
import { readWhoisDate, type WhoisDate } from "#probe-agent/analysis/whois/dates.ts";
import { KEYS } from "#probe-agent/analysis/whois/keys.ts";
import type { WhoisEntry } from "#probe-agent/analysis/whois/lines.ts";

/** Blocks about people and companies: what is dated or named there is not the domain. */
const OTHERS = /^(?:contact|registrar|registrant|holder|reseller|owner|abuse)|(?:admin|tech|billing|contact|person)/;

const SERVER_KEY =
  /^(?:(?:primary|secondary|domain) )?(?:(?:name ?servers?|nserver|dns(?: servers?)?|ns|host ?name|ネームサーバ)(?: (?:name|hostname|information))?|servers in listed order|servers)(?: ?\d{1,2})?$|^ns name \d\d$/;
const HOST_NAME = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})\.?$/i;
const MAX_LIST = 64;

/** Looks fields up among the entries of an answer. */
export class WhoisFields {
  readonly #byKey = new Map<string, WhoisEntry[]>();
  readonly #entries: readonly WhoisEntry[];
  readonly #server: string;

  constructor(entries: readonly WhoisEntry[], server: string) {
    this.#entries = entries;
    this.#server = server;
    for (const entry of entries) {
      const known = this.#byKey.get(entry.key);
      if (known === undefined) this.#byKey.set(entry.key, [entry]);
      else known.push(entry);
    }
  }

  /** All entries of the keys, key by key. */
  of(keys: readonly string[]): readonly WhoisEntry[] {
    return keys.flatMap((key) => this.#byKey.get(key) ?? []);
  }

  /** The first value under any of the keys, `within` a block where one is named. */
  first(keys: readonly string[], within?: RegExp): string | null {
    const entries = this.of(keys).filter(({ section }) => within === undefined || within.test(section));
    return entries.find(({ values }) => values.length > 0)?.values[0] ?? null;
  }

  /** Those of a block that is about others than the domain left out. */
  own(keys: readonly string[]): readonly WhoisEntry[] {
    return this.of(keys).filter(({ section }) => !OTHERS.test(section));
  }

  /** Whether a block with this heading has any line. */
  hasBlock(heading: string): boolean {
    return this.#entries.some(
      ({ key, section, values }) => (key === heading || section === heading) && values.length > 0,
    );
  }

  /** The name the answer is about, lower case, without final dot. */
  domain(): string | null {
    const stated = this.first(KEYS.domain) ?? this.first(["name"], /^domain$/);
    const [, name = null] = /^([^\s,;]{1,255}?)\.?(?:[\s,;]|$)/.exec(stated ?? "") ?? [];
    return name === null ? null : name.toLowerCase();
  }

  date(which: "created" | "updated" | "expires"): WhoisDate | null {
    // In the order of the text: the domain comes before its contacts and name servers, which have dates of their own.
    for (const { key, section, values } of this.#entries) {
      const counts = KEYS[which].includes(key) && (!OTHERS.test(section) || /\bdate$/.test(key));
      const date = counts ? readWhoisDate(values[0] ?? "", this.#server) : null;
      if (date !== null) return date;
    }
    return which === "expires" ? this.#connectedUntil() : null;
  }

  /** JPRS states the end of a .co.jp in "[State] Connected (2025/03/31)". */
  #connectedUntil(): WhoisDate | null {
    const [, until = null] = /^Connected \((\d{4}\/\d\d\/\d\d)\)$/.exec(this.first(["state", "状態"]) ?? "") ?? [];
    return until === null ? null : readWhoisDate(until, this.#server);
  }

  /** Status words as printed, without the URL that explains them. */
  statuses(): string[] {
    const own = ({ section }: WhoisEntry) => !OTHERS.test(section) && !/name ?server/.test(section);
    const stated = this.#entries.filter((entry) => KEYS.status.includes(entry.key) && own(entry));
    const entries = [
      ...(stated.length > 0 ? stated : this.of(["state"]).filter(own)),
      ...this.of(["lock status"]),
      ...this.of(["flags"]).filter(({ section }) => section === "flags" || section === ""),
    ];
    const words = new Map<string, string>();
    for (const word of entries.flatMap(({ values }) => values.flatMap(statusWords))) {
      if (!words.has(word.toLowerCase()) && words.size < MAX_LIST) words.set(word.toLowerCase(), word);
    }
    return [...words.values()];
  }

  isFree(): boolean {
    const query = this.first(["query status"]);
    return [...this.statuses(), ...(query === null ? [] : [query])].some(isFreeStatus);
  }

  /** Lower case, no final dot, no address. */
  nameservers(): string[] {
    const domain = this.domain();
    const found = new Set<string>();
    for (const { key, section, values } of this.#entries) {
      if (!SERVER_KEY.test(key) && !(SERVER_KEY.test(section) && key === "name")) continue;
      for (const [index, value] of values.entries()) {
        // Beside the key there may be several; below it each line begins with one.
        for (const token of value.split(/[\s,;()[\]]+/, index === 0 ? 40 : 1)) {
          const host = token.toLowerCase().replace(/\.$/, "");
          const isItself = key === "dns" && host === domain; // .dk prints the Unicode name under this key
          if (HOST_NAME.test(token) && !isItself && found.size < MAX_LIST) found.add(host);
        }
      }
    }
    return [...found];
  }

  registryId(): string | null {
    return this.first(KEYS.registryId);
  }

  /** Where the server says that somebody else knows more, as it says so. */
  referral(): string | null {
    return this.first(KEYS.referral);
  }
}

function statusWords(value: string): string[] {
  const pieces = value.split(/\(?https?:\/\/[^\s)]*\)?/i);
  const bare = pieces
    .map((piece, index) => (index < pieces.length - 1 ? piece.trimEnd() : piece))
    .join("")
    .replace(/#\d+$/, "")
    .trim();
  // .ru: "REGISTERED, DELEGATED, VERIFIED"
  const parts = /^[\w -]{1,40}(?:, [\w -]{1,40})+$/.test(bare) ? bare.split(", ") : [bare];
  return parts.filter((part) => part !== "" && part.length <= 120);
}
