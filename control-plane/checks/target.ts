import { readAsNumber } from "#shared/internet/as-number.ts";
import {
  createEgress,
  NO_ALLOW_LISTS,
  type Denials,
  type Egress,
  type HostCheck,
  type UrlCheck,
} from "#shared/internet/egress.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { completeUrl } from "#shared/internet/target-url.ts";
import type { Contract, TargetKind } from "#shared/tools/define.ts";

/** Decision on a target before dispatch, from literals and special names. The agent checks the looked-up addresses. */
type TargetDecision =
  | (Destination & {
      readonly ok: true;
      /** Parameters with the normalised target for agents: hosts in lower-case A-labels, URLs complete. */
      readonly params: Readonly<Record<string, unknown>>;
    })
  | { readonly ok: false; readonly refused: true }
  | { readonly ok: false; readonly refused: false; readonly problem: FieldProblem };

const PUBLIC = createEgress(NO_ALLOW_LISTS);

/** Destination of a job's traffic. */
interface Destination {
  /**
   * A name in lower-case A-labels without final dot, an address, or AS<number>; null if the tool makes no connection.
   */
  readonly host: string | null;
  /** Whether it is public. If not, it is only allowed because agents list it. */
  readonly isPublic: boolean;
  /** Reports whether an agent with these egress rules can run the job; always true for a public host. */
  allows(egress: Egress): boolean;
}

/** A host or URL to which a job connects in addition to its target. */
export interface ExtraDestination {
  readonly kind: "host" | "url";
  readonly target: string;
}

/** Decides on an additional destination by the rules for targets. Returns null if it is refused. */
export function decideDestination(
  { kind, target }: ExtraDestination,
  agents: readonly Egress[],
  optOut?: Denials,
): Destination | null {
  const checkFor = (egress: Egress) => CHECKS[kind](egress, target, true);
  const everyone = checkFor(PUBLIC);
  const allowed = everyone.ok ? everyone : agents.map(checkFor).find((check) => check.ok);
  if (allowed === undefined) return null;
  const host = hostOf(allowed);
  if (hasOptedOut(host, optOut)) return null;
  return { host, isPublic: everyone.ok, allows: everyone.ok ? () => true : (egress) => checkFor(egress).ok };
}

/**
 * Decides on the contract's target parameter. `agents` holds the egress rules of the agents that could run the check;
 * `optOut` applies to all of them.
 */
export function decideTarget(
  contract: Contract,
  params: Readonly<Record<string, unknown>>,
  agents: readonly Egress[],
  optOut?: Denials,
): TargetDecision {
  if (contract.target === null) return { ok: true, host: null, isPublic: true, params, allows: () => true };
  const { param: field, kind, connects } = contract.target;
  const raw = String(params[field]);
  const checked = new Map<Egress, UrlCheck | HostCheck>();
  const checkFor = (egress: Egress) => {
    const known = checked.get(egress);
    if (known !== undefined) return known;
    const check = CHECKS[kind](egress, raw, connects);
    checked.set(egress, check);
    return check;
  };
  const everyone = checkFor(PUBLIC);
  const isPossible = everyone.ok || everyone.code === "target_not_allowed";
  const allowed = everyone.ok ? everyone : agents.map(checkFor).find((check) => check.ok);
  if (!isPossible || (allowed === undefined && isWordForUrl(kind, raw))) {
    const reason = kind === "url" ? "invalid_url" : "type";
    return { ok: false, refused: false, problem: { field, reason, message: EXPECTED[kind] } };
  }
  if (allowed === undefined) return { ok: false, refused: true };
  const host = hostOf(allowed);
  if (hasOptedOut(host, optOut)) return { ok: false, refused: true };
  return {
    ok: true,
    host,
    isPublic: everyone.ok,
    params: { ...params, [field]: normalise(kind, raw, allowed) },
    allows: everyone.ok ? () => true : (egress) => checkFor(egress).ok,
  };
}

/**
 * Reports whether a text is a URL only because any word can be a host of the search domain: `nonsense`, `javascript:1`.
 * The error then describes the form of a URL, not that the target is not allowed.
 */
function isWordForUrl(kind: TargetKind, raw: string): boolean {
  if (kind !== "url" && kind !== "site") return false;
  const url = completeUrl(raw);
  const hostname = url === null || url === raw ? "" : (URL.parse(url)?.hostname ?? "");
  return hostname !== "" && hostname !== "localhost" && !/[.[]/.test(hostname);
}

/** Returns the normalised target. A site stays unchanged, because the agent tries https and http. */
function normalise(kind: TargetKind, raw: string, allowed: Extract<UrlCheck | HostCheck, { ok: true }>): string {
  if ("host" in allowed) return allowed.host;
  return kind === "url" ? (completeUrl(raw) ?? raw) : raw;
}

function checkCompleted(egress: Egress, raw: string): UrlCheck {
  const url = completeUrl(raw);
  return url === null ? { ok: false, code: "invalid_url" } : egress.checkUrl(url);
}

/** Functions that check a target of each kind by an agent's egress rules. */
const CHECKS: Readonly<Record<TargetKind, (egress: Egress, raw: string, connects: boolean) => UrlCheck | HostCheck>> = {
  url: checkCompleted,
  site: checkCompleted,
  host: (egress, raw, connects) => egress.checkHost(raw, { connects }),
  domain: (egress, raw) => egress.checkHost(raw, { connects: false }),
  address: (egress, raw) =>
    literalFamily(raw) === null ? { ok: false, code: "invalid_host" } : egress.checkHost(raw, { connects: true }),
  resource(egress, raw) {
    const asn = readAsNumber(raw);
    // An AS number is no host: no rule can refuse it.
    if (asn !== null) return { ok: true, host: `AS${asn}`, literal: false };
    return egress.checkHost(raw, { connects: literalFamily(raw) !== null });
  },
};

const EXPECTED: Readonly<Record<TargetKind, string>> = {
  url: "must be an http:// or https:// URL or a host name such as example.org, without user name or password",
  site: "must be a host name such as example.org or an http:// or https:// URL, without user name or password",
  host: "must be a host name or IP address, without scheme, port or path",
  domain: "must be a domain name, without scheme, port or path",
  address: "must be an IPv4 or IPv6 address",
  resource: "must be a domain name, an IP address or an AS number such as AS64500",
};

function hasOptedOut(host: string, optOut: Denials | undefined): boolean {
  return optOut !== undefined && (optOut.deniesAddress(host) || optOut.deniesName(host));
}

function hostOf(allowed: Extract<UrlCheck | HostCheck, { ok: true }>): string {
  if ("host" in allowed) return allowed.host;
  const { hostname } = allowed.url;
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
}
