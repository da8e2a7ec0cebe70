/** A module of blackbox.yml. `{name}` in its texts is a place of the world (test/lab/parity/world.ts). */
export interface ModuleOptions {
  readonly prober: "http" | "tcp" | "dns" | "icmp" | "grpc";
  readonly timeout?: string;
  readonly [options: string]: unknown;
}

/** One probe that both exporters make. */
export interface Case {
  readonly what: string;
  /** null: a module that the file does not have. */
  readonly module: ModuleOptions | null;
  /** Its places are filled in as those of the module; null: no target at all. */
  readonly target: string | null;
  /**
   * What Debian's exporter shows, so that the case means what it says: success, a line of its log that names the cause
   * of failure, or an HTTP status other than 200.
   */
  readonly shows: "success" | RegExp | number;
  /** Value of X-Prometheus-Scrape-Timeout-Seconds. An exporter takes half a second of it for itself. Default 4. */
  readonly seconds?: string;
  /** Further parameters of the request. */
  readonly query?: Readonly<Record<string, string>>;
  /** Why our exporter does not accept the module, where it is meant not to. */
  readonly refused?: string;
}

/** A case in a row of a table. */
export type Row = readonly [
  what: string,
  target: string,
  options: object,
  shows: Case["shows"],
  more?: Partial<Omit<Case, "what" | "module" | "target" | "shows">>,
];

/** Cases of a prober, which prefers IPv4 unless its options say otherwise. */
export function casesOf(prober: ModuleOptions["prober"], rows: readonly Row[]): Case[] {
  return rows.map(([what, target, options, shows, more = {}]) => ({
    what: `${prober}: ${what}`,
    module: { prober, [prober]: { preferred_ip_protocol: "ip4", ...options } },
    target,
    shows,
    ...more,
  }));
}

/** Two seconds, of which a probe gets one and a half. */
export const SHORT = { seconds: "2" } as const;
