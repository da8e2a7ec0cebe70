import { failed, type Failed, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { whois as contract } from "#shared/tools/whois.ts";
import type { RdapReply } from "#probe-agent/sources/rdap.ts";
import { cutText } from "#probe-agent/tools/whois/raw.ts";
import type { DomainFacts } from "#probe-agent/tools/whois/facts.ts";

/** What the tool returns. */
export type Result = ResultOf<typeof contract>;

/** What a look-up of any kind comes to. */
export interface Found {
  readonly registered: boolean | null;
  readonly state: Result["state"];
  readonly facts?: DomainFacts;
  readonly network?: Result["network"];
  readonly autnum?: Result["autnum"];
  readonly rdapServer?: string;
  readonly whoisServer?: string;
  readonly raw: string | null;
  readonly servers: Result["servers"];
  readonly source: Result["source"];
  readonly limitations: readonly string[];
}

/** A look-up's end. */
export type Lookup = { readonly ok: true; readonly found: Found } | { readonly ok: false; readonly failure: Failed };

/** The answer as it came, without control characters, cut. */
export function rawOf(text: string | null): Pick<Result, "raw" | "raw_truncated"> {
  if (text === null) return { raw: null, raw_truncated: false };
  const cut = cutText(text);
  return { raw: cut.text, raw_truncated: cut.truncated };
}

/** Whether the registry's RDAP service turned the question away because it was asked too often. */
export function isLimited(reply: RdapReply): boolean {
  return reply.status === "failed" && reply.limited === true;
}

/**
 * No registry said anything: the check has failed (decisions 1). `why` are the sentences of what was tried, `failure`
 * that of the last server. `limited`: one that knows would have told later, which is worth more than that another one
 * could not be reached.
 */
export function nothing(
  why: readonly string[],
  failure: Exclude<Outcome<unknown>, { status: "ok" }> | null,
  limited: boolean,
): Failed {
  const message = `no registry told: ${why.join(" ")}`.slice(0, 1_000).toWellFormed();
  if (limited) return failed("response", "target", "rate_limited", message);
  if (failure?.status !== "failed") return failed("response", "target", "no_registration_data", message);
  // The name that could not be looked up is the server's: "nxdomain" of the target would read as a domain nobody has.
  const source = failure.stage === "dns" ? "resolver" : failure.source;
  return failed(failure.stage, source, failure.reason, message);
}

/** Base of an RDAP resource: "https://rdap.example/v1/domain/x" is served by "https://rdap.example/v1/". */
export function rdapBase(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const base = path.replace(/(?:domain|ip|autnum)\/[^/]*(?:\/\d{1,3})?$/, "");
  return base === path ? url : base;
}
