import type { ResolverEntry } from "#shared/settings/resolvers.ts";
import type { RuleData } from "#probe-agent/analysis/tech/rule.ts";

/** The operator's data files (settings, decisions 1) and the small tables that are built in. Nothing here does I/O when asked. */
export interface DataPort {
  /** Public resolvers that propagation asks: the operator's list, or the one that is built in. */
  readonly resolvers: readonly ResolverEntry[];
  /** The operator has brought Chromium's HSTS preload list; without one `hstsPreload` knows nothing. */
  readonly hasHstsPreload: boolean;
  /** How browsers force HTTPS on a host (lower-case name) before they have ever been there; null: they do not, or no list. */
  hstsPreload(host: string): { readonly include_subdomains: boolean } | null;
  /** How technologies are told: the operator's rules, or the ones that are built in. */
  readonly techRules: RuleData;
}
