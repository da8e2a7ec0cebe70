import type { CtLogs } from "#probe-agent/analysis/tls/ssl/ct-log.ts";
import type { AiBot } from "#probe-agent/analysis/web/robots/ai-bot.ts";
import type { NetworkOwner, Place } from "#probe-agent/analysis/registry/geo.ts";
import type { ResolverEntry } from "#shared/settings/resolvers.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";

/** Description of a database of the operator, from its metadata. */
export interface DatabaseInfo {
  /** Type of the database, as it names itself. */
  readonly source: string;
  /** Build time, in Unix seconds. */
  readonly build_epoch: number;
  /** A note on its licence; null if there is none, as in the format itself. */
  readonly licence: string | null;
}

/** The operator's data files (settings) and the small built-in tables. Lookups do no I/O. */
export interface DataPort {
  /**
   * Finds the estimated place of an address; null if the operator has configured no database of places
   * (VANTAGE_GEO_DB).
   */
  geo(ip: string): { readonly database: DatabaseInfo; readonly place: Place | null } | null;
  /**
   * Finds the owner of an address's network; null without a database of networks (VANTAGE_ASN_DB). `prefix` is the
   * prefix length in bits.
   */
  asn(ip: string): {
    readonly database: DatabaseInfo;
    readonly owner: NetworkOwner | null;
    readonly prefix: number | null;
  } | null;
  /** Public resolvers that propagation queries: the operator's list, or the built-in one. */
  readonly resolvers: readonly ResolverEntry[];
  /**
   * Whether the operator has configured Chromium's HSTS preload list. Without one, `hstsPreload` returns null for every
   * host.
   */
  readonly hasHstsPreload: boolean;
  /**
   * Finds how browsers force HTTPS on a host (lower-case name) before the first visit; null if they do not, or if there
   * is no list.
   */
  hstsPreload(host: string): { readonly include_subdomains: boolean } | null;
  /** Rules that detect technologies: the operator's, or the built-in ones. */
  readonly techRules: RuleData;
  /** Crawlers of AI services: the operator's list, or the built-in one. */
  readonly aiBots: readonly AiBot[];
  /**
   * Certificate transparency logs by id (base64); null if the operator has configured no list (VANTAGE_CT_LOG_LIST).
   */
  readonly ctLogs: CtLogs;
}
