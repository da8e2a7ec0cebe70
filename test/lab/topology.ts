/** Type and properties of a node. Hosts have one interface and a default route. */
export interface NodeSpec {
  readonly kind: "host" | "router";
  /** Sends no ICMP at all, so that traces show it as stars. */
  readonly silent?: true;
  /** Keeps Linux's own rate limit of ICMP errors: a burst of six, then one a second for each destination. */
  readonly limited?: true;
  /** Names of additional addresses of a host, each a separate target (one TLS variant for each address). */
  readonly also?: readonly string[];
}

/**
 * A long-distance link. Delay, jitter, rate and MTU apply in both directions; loss, drops and duplicates only from `a`
 * to `b`.
 */
export interface WanSpec {
  readonly a: string;
  readonly b: string;
  /** One-way delay in milliseconds. */
  readonly delayMs: number;
  /** Uniformly distributed additional delay of each packet, from 0 to this many milliseconds. The order is kept. */
  readonly jitterMs?: number;
  /** Share of packets lost at random (seeded), 0 to 1. */
  readonly loss?: number;
  /** Loses exactly the nth, 2nth, ... packet. */
  readonly dropEvery?: number;
  /** Delivers exactly the nth, 2nth, ... packet twice. */
  readonly duplicateEvery?: number;
  /** Bits per second. */
  readonly rate?: number;
  /** Maximum IP packet in octets. Default: 1500. */
  readonly mtu?: number;
}

/** A local network without delay: a bridge in its router's namespace. */
export interface LanSpec {
  readonly router: string;
  readonly hosts: readonly string[];
  /** First three octets. Default: 198.19.<number>. */
  readonly prefix4?: string;
  /** Upper 64 bits. Default: 2001:db8:19:<number>. */
  readonly prefix6?: string;
}

/** The whole simulated internet. Everything else (addresses, names, routes, expectations) is derived from it. */
export interface Topology {
  readonly nodes: Readonly<Record<string, NodeSpec>>;
  readonly wans: Readonly<Record<string, WanSpec>>;
  readonly lans: Readonly<Record<string, LanSpec>>;
}

/**
 * Kinds of TLS server, one address each, all in the node `web`. Those up to `reset` are in
 * test/servers/tls-variants.ts.
 */
export const TLS_VARIANTS = [
  "good",
  "expired",
  "not-yet-valid",
  "expiring-soon",
  "self-signed",
  "wrong-host",
  "missing-intermediate",
  "unknown-issuer",
  "cross-signed",
  "untrusted-root",
  "sha1",
  "rsa1024",
  "must-staple",
  "client-certificate",
  "wrong-order",
  "tls13-only",
  "tls10-only",
  "cbc-only",
  "http1-only",
  "plain-text",
  "hanging",
  "reset",
  "filtered",
  // Certificates that name the source of their status, and the staples that are sent with them.
  "status-good",
  "revoked",
  "revoked-by-list",
  "staple-good",
  "staple-revoked",
  "staple-must",
  // HTTP/3 announced by Alt-Svc and by an HTTPS record.
  "h3",
] as const;

/** Servers of the node `svc`, one address each. */
export const SERVICES = [
  "smtp-good",
  "smtp-plain",
  "smtp-expired",
  "smtp-busy",
  "smtp-helo",
  // No listener.
  "smtp-refused",
  // Drops packets to port 25.
  "smtp-filtered",
  "whois",
  "whois-registry",
  "whois-registrar",
  "rdap",
  // No listener.
  "rdap-dead",
  "pki",
  // A name server whose answer depends on the client's network.
  "geo-ns",
] as const;

const router: NodeSpec = { kind: "router" };
const host: NodeSpec = { kind: "host" };

/**
 * Three regions and a control plane on core-a, all targets on core-b, two equal paths (mid-1, mid-2) between them. The
 * zoo has the irregular links. The coast is behind a silent router, an MTU of 1400 and an ocean with jitter.
 */
export const LAB: Topology = {
  nodes: {
    "edge-eu": router,
    "edge-us": router,
    "edge-ap": router,
    "edge-hub": router,
    "core-a": router,
    "mid-1": router,
    "mid-2": router,
    "core-b": router,
    "edge-web": router,
    "edge-svc": router,
    "edge-dns": router,
    zoo: router,
    silent: { ...router, silent: true },
    narrow: router,
    coast: router,
    limited: { ...router, limited: true },
    "step-1": router,
    "step-2": router,
    "probe-eu": host,
    "probe-us": host,
    "probe-ap": host,
    "resolver-eu": host,
    "resolver-us": host,
    "resolver-ap": host,
    hub: host,
    hub2: host,
    db: host,
    web: { ...host, also: TLS_VARIANTS },
    svc: { ...host, also: SERVICES },
    sentinel: host,
    "dns-root": host,
    "dns-tld": host,
    "dns-ns1": host,
    "dns-ns2": host,
    "dns-lame": host,
    "dns-dead": host,
    lossy: host,
    every: host,
    twice: host,
    slow: host,
    far: host,
    "behind-limited": host,
    long: host,
  },
  wans: {
    eu: { a: "core-a", b: "edge-eu", delayMs: 1.5 },
    us: { a: "core-a", b: "edge-us", delayMs: 21 },
    ap: { a: "core-a", b: "edge-ap", delayMs: 40 },
    hub: { a: "core-a", b: "edge-hub", delayMs: 0.5 },
    "upper-1": { a: "core-a", b: "mid-1", delayMs: 0.5 },
    "upper-2": { a: "core-a", b: "mid-2", delayMs: 0.5 },
    "lower-1": { a: "mid-1", b: "core-b", delayMs: 0.5 },
    "lower-2": { a: "mid-2", b: "core-b", delayMs: 0.5 },
    web: { a: "core-b", b: "edge-web", delayMs: 1 },
    svc: { a: "core-b", b: "edge-svc", delayMs: 1 },
    dns: { a: "core-b", b: "edge-dns", delayMs: 1 },
    zoo: { a: "core-b", b: "zoo", delayMs: 1 },
    lossy: { a: "zoo", b: "lossy", delayMs: 2, loss: 0.1 },
    every: { a: "zoo", b: "every", delayMs: 2, dropEvery: 4 },
    twice: { a: "zoo", b: "twice", delayMs: 2, duplicateEvery: 2 },
    slow: { a: "zoo", b: "slow", delayMs: 2, rate: 1_000_000 },
    limited: { a: "zoo", b: "limited", delayMs: 1 },
    "behind-limited": { a: "limited", b: "behind-limited", delayMs: 1 },
    "step-1": { a: "zoo", b: "step-1", delayMs: 1 },
    "step-2": { a: "step-1", b: "step-2", delayMs: 1 },
    long: { a: "step-2", b: "long", delayMs: 1 },
    silent: { a: "core-b", b: "silent", delayMs: 1 },
    narrow: { a: "silent", b: "narrow", delayMs: 1 },
    strait: { a: "narrow", b: "coast", delayMs: 2, mtu: 1_400 },
    ocean: { a: "coast", b: "far", delayMs: 30, jitterMs: 10 },
  },
  lans: {
    eu: { router: "edge-eu", hosts: ["probe-eu", "resolver-eu"] },
    us: { router: "edge-us", hosts: ["probe-us", "resolver-us"] },
    ap: { router: "edge-ap", hosts: ["probe-ap", "resolver-ap"] },
    hub: { router: "edge-hub", hosts: ["hub", "hub2", "db"] },
    web: { router: "edge-web", hosts: ["web"], prefix4: "198.51.100", prefix6: "2001:db8:51:100" },
    svc: { router: "edge-svc", hosts: ["svc", "sentinel"], prefix4: "203.0.113", prefix6: "2001:db8:203:113" },
    dns: {
      router: "edge-dns",
      hosts: ["dns-root", "dns-tld", "dns-ns1", "dns-ns2", "dns-lame", "dns-dead"],
    },
  },
};

/** All ranges of the lab for VANTAGE_ALLOW_TARGETS. 192.0.2.0/24 is left out, because hosts may have it. */
export const LAB_RANGES = ["198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"] as const;

/** The regions, each with a probe and a resolver. */
export const REGIONS = ["eu", "us", "ap"] as const;
/** One of these regions. */
export type Region = (typeof REGIONS)[number];
