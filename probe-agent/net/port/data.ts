import type { ResolverEntry } from "#shared/settings/resolvers.ts";

/** The operator's data files (settings, decisions 1) and the small tables that are built in. Nothing here does I/O when asked. */
export interface DataPort {
  /** Public resolvers that propagation asks: the operator's list, or the one that is built in. */
  readonly resolvers: readonly ResolverEntry[];
}
