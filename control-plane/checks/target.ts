import {
  createEgress,
  NO_ALLOW_LISTS,
  type Denials,
  type Egress,
  type HostCheck,
  type UrlCheck,
} from "#shared/egress.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { Contract } from "#shared/tools/define.ts";

/** A target decided before dispatch (decisions 12): literals and special names here, looked-up addresses on the agent. */
export type TargetDecision =
  | (Reach & {
      readonly ok: true;
      /** Parameters with the target normalised (lower-case A-labels for hosts). */
      readonly params: Readonly<Record<string, unknown>>;
    })
  | { readonly ok: false; readonly refused: true }
  | { readonly ok: false; readonly refused: false; readonly problem: FieldProblem };

const PUBLIC = createEgress(NO_ALLOW_LISTS);

/** Where a job's traffic goes: a name in lower-case A-labels without final dot, or an address. */
export interface Reach {
  readonly host: string;
  /** False: reachable only because agents list it. */
  readonly isPublic: boolean;
  /** Whether an agent with these rules may be asked; constantly true for a public host. */
  allows(egress: Egress): boolean;
}

/** Decides, as on a target, on a host that a job reaches besides its target; null: refused. */
export function decideReach(host: string, agents: readonly Egress[], optOut?: Denials): Reach | null {
  const look = (egress: Egress) => egress.checkHost(host, { connects: true });
  const everyone = look(PUBLIC);
  const allowed = everyone.ok ? everyone : agents.map(look).find((check) => check.ok);
  if (allowed === undefined || hasOptedOut(allowed.host, optOut)) return null;
  return { host: allowed.host, isPublic: everyone.ok, allows: everyone.ok ? () => true : (egress) => look(egress).ok };
}

/**
 * Decides on the contract's target parameter. `agents` are the rules of those that could run the check; `optOut` holds
 * for all of them.
 */
export function decideTarget(
  contract: Contract,
  params: Readonly<Record<string, unknown>>,
  agents: readonly Egress[],
  optOut?: Denials,
): TargetDecision {
  const { param: field, kind, connects } = contract.target;
  const raw = String(params[field]);
  const looks = new Map<Egress, UrlCheck | HostCheck>();
  const look = (egress: Egress) => {
    const known = looks.get(egress);
    if (known !== undefined) return known;
    const check =
      kind === "url" ? egress.checkUrl(raw) : egress.checkHost(raw, { connects: connects && kind === "host" });
    looks.set(egress, check);
    return check;
  };
  const everyone = look(PUBLIC);
  if (!everyone.ok && everyone.code !== "target_not_allowed") {
    const problem: FieldProblem =
      everyone.code === "invalid_url"
        ? {
            field,
            reason: "invalid_url",
            message: "must be a full http:// or https:// URL without user name or password",
          }
        : {
            field,
            reason: "type",
            message: `must be a ${kind === "domain" ? "domain" : "host"} name${connects ? " or IP address" : ""}, without scheme, port or path`,
          };
    return { ok: false, refused: false, problem };
  }
  const allowed = everyone.ok ? everyone : agents.map(look).find((check) => check.ok);
  if (allowed === undefined) return { ok: false, refused: true };
  const host = hostOf(allowed);
  if (hasOptedOut(host, optOut)) return { ok: false, refused: true };
  return {
    ok: true,
    host,
    isPublic: everyone.ok,
    params: "host" in allowed ? { ...params, [field]: allowed.host } : params,
    allows: everyone.ok ? () => true : (egress) => look(egress).ok,
  };
}

function hasOptedOut(host: string, optOut: Denials | undefined): boolean {
  return optOut !== undefined && (optOut.deniesAddress(host) || optOut.deniesName(host));
}

function hostOf(allowed: Extract<UrlCheck | HostCheck, { ok: true }>): string {
  if ("host" in allowed) return allowed.host;
  const { hostname } = allowed.url;
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");
}
