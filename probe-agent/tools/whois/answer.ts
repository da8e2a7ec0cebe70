import { failed, type Failed, type Outcome } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { whois as contract } from "#shared/tools/whois.ts";
import type { RdapReply } from "#probe-agent/sources/rdap.ts";
import { serviceSource } from "#probe-agent/sources/service-source.ts";
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

/** Why a look-up came to nothing. */
interface Unanswered {
  /** What was tried, one sentence each. */
  readonly why: readonly string[];
  /** Failure of the last WHOIS server; null where it answered. */
  readonly failure: Exclude<Outcome<unknown>, { status: "ok" }> | null;
  /** A registry that knows turned the question away because it was asked too often. */
  readonly limited: boolean;
  /** Every list of registries was read, and none has a registry for the name. */
  readonly unlisted: boolean;
}

/**
 * The failure of a check to which no registry gave an answer. A rate limit goes before a server that could not be
 * reached, because asking later helps. Only a name that no registry is responsible for is the target's own fault.
 */
export function noRegistration({ why, failure, limited, unlisted }: Unanswered): Failed {
  const message = `no registry gave a registration: ${why.join(" ")}`.slice(0, 1_000).toWellFormed();
  if (limited) return failed("response", "service", "rate_limited", message);
  if (failure?.status === "failed") return failed(failure.stage, serviceSource(failure), failure.reason, message);
  return failed("response", unlisted ? "target" : "service", "no_registration_data", message);
}

/** Base of an RDAP resource: "https://rdap.example/v1/domain/x" is served by "https://rdap.example/v1/". */
export function rdapBase(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const base = path.replace(/(?:domain|ip|autnum)\/[^/]*(?:\/\d{1,3})?$/, "");
  return base === path ? url : base;
}
