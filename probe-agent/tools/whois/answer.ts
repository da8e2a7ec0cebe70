import { failed, type Failed, type Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { whois as contract } from "#shared/tools/whois/contract.ts";
import type { RdapReply } from "#probe-agent/sources/rdap.ts";
import { serviceSource } from "#probe-agent/sources/service-source.ts";
import type { DomainRegistration } from "#probe-agent/tools/whois/registration.ts";

/** Result of the tool. */
export type Result = ResultOf<typeof contract>;

/** Result of a lookup of any kind. */
export interface Found {
  readonly registered: boolean | null;
  readonly state: Result["state"];
  readonly facts?: DomainRegistration;
  readonly network?: Result["network"];
  readonly autnum?: Result["autnum"];
  readonly rdapServer?: string;
  readonly whoisServer?: string;
  readonly raw: string | null;
  readonly servers: Result["servers"];
  readonly source: Result["source"];
  readonly limitations: readonly string[];
}

/** Outcome of a lookup. */
export type Lookup = { readonly ok: true; readonly found: Found } | { readonly ok: false; readonly failure: Failed };

/**
 * Maximum number of characters of an unprocessed answer. At three octets each, they are far below the limit of a
 * result.
 */
const MAX_CHARACTERS = 32_768;

/** Returns the unprocessed answer without control characters, truncated if too long. */
export function rawOf(text: string | null): Pick<Result, "raw" | "raw_truncated"> {
  if (text === null) return { raw: null, raw_truncated: false };
  const cut = cutText(text);
  return { raw: cut.text, raw_truncated: cut.truncated };
}

/** Reports whether the registry's RDAP service refused the query because of its rate limit. */
export function isLimited(reply: RdapReply): boolean {
  return reply.status === "failed" && reply.limited === true;
}

/** Why a lookup found nothing. */
interface Unanswered {
  /** What was tried, one sentence each. */
  readonly why: readonly string[];
  /** Failure of the last WHOIS server. Null if it answered. */
  readonly failure: Exclude<Outcome<unknown>, { status: "ok" }> | null;
  /** Whether a registry that has the data refused the query because of its rate limit. */
  readonly limited: boolean;
  /** Whether every list of registries was read and none contains a registry for the name. */
  readonly unlisted: boolean;
}

/**
 * Returns the failure of a check to which no registry gave an answer. A rate limit takes precedence over a server that
 * could not be reached, because a later try helps. Only a name for which no registry is responsible is the target's own
 * fault.
 */
export function noRegistration({ why, failure, limited, unlisted }: Unanswered): Failed {
  const message = `no registry returned a registration: ${why.join(" ")}`.slice(0, 1_000).toWellFormed();
  if (limited) return failed("response", "service", "rate_limited", message);
  if (failure?.status === "failed") return failed(failure.stage, serviceSource(failure), failure.reason, message);
  return failed("response", unlisted ? "target" : "service", "no_registration_data", message);
}

/**
 * Returns the base URL of an RDAP resource: "https://rdap.example/v1/domain/x" is served by "https://rdap.example/v1/".
 */
export function rdapBase(url: string): string {
  const end = url.search(/[?#]/);
  const path = end === -1 ? url : url.slice(0, end);
  const base = path.replace(/(?:domain|ip|autnum)\/[^/]*(?:\/\d{1,3})?$/, "");
  return base === path ? url : base;
}

/** Cuts a text and removes control characters except line ends and tabs, which could disturb a terminal. */
function cutText(text: string): { readonly text: string; readonly truncated: boolean } {
  const clean = text
    .slice(0, MAX_CHARACTERS)
    .replaceAll("\r\n", "\n")
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .toWellFormed();
  return { text: clean, truncated: text.length > MAX_CHARACTERS };
}
