import type { CtLogs } from "#probe-agent/analysis/tls/ssl/ct-log.ts";
import type { AiBot } from "#probe-agent/analysis/web/robots/ai-bot.ts";
import type { NetworkOwner, Place } from "#probe-agent/analysis/registry/geo.ts";
import type { ResolverEntry } from "#shared/settings/resolvers.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";

/** What a database of the operator says of itself. */
export interface DatabaseInfo {
  /** Its type, as it names itself. */
  readonly source: string;
  /** When it was built, Unix seconds. */
  readonly build_epoch: number;
  /** A note on its licence; null where there is none, as in the format itself. */
  readonly licence: string | null;
}

/** The operator's data files (settings) and the small tables that are built in. Nothing here does I/O when asked. */
export interface DataPort {
  /** Where an address is thought to be; null: the operator has brought no database of places (VANTAGE_GEO_DB). */
  geo(ip: string): { readonly database: DatabaseInfo; readonly place: Place | null } | null;
  /** Who runs its network; null: no database of networks (VANTAGE_ASN_DB). `prefix` is the length of the block, bits. */
  asn(ip: string): {
    readonly database: DatabaseInfo;
    readonly owner: NetworkOwner | null;
    readonly prefix: number | null;
  } | null;
  /** Public resolvers that propagation asks: the operator's list, or the one that is built in. */
  readonly resolvers: readonly ResolverEntry[];
  /** The operator has brought Chromium's HSTS preload list; without one `hstsPreload` knows nothing. */
  readonly hasHstsPreload: boolean;
  /** How browsers force HTTPS on a host (lower-case name) before they have ever been there; null: they do not, or no list. */
  hstsPreload(host: string): { readonly include_subdomains: boolean } | null;
  /** How technologies are told: the operator's rules, or the ones that are built in. */
  readonly techRules: RuleData;
  /** Crawlers of AI services: the operator's list, or the one that is built in. */
  readonly aiBots: readonly AiBot[];
  /** Certificate transparency logs by id (base64); null: the operator has brought no list of them (VANTAGE_CT_LOG_LIST). */
  readonly ctLogs: CtLogs;
}
