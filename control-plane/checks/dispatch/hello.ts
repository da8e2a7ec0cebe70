import { LRUCache } from "lru-cache";
import { createEgress, type AllowLists, type Egress } from "#shared/internet/egress.ts";
import type { Place } from "#shared/internet/locations.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";

/** A validated hello of an agent. */
export interface AgentInfo {
  readonly id: string;
  readonly version: string;
  readonly place: Place;
  readonly capabilities: ReadonlySet<string>;
  /**
   * Rules for the targets that it can reach: the public internet and its allow lists. Agents with equal lists share
   * them.
   */
  readonly egress: Egress;
  readonly allow: AllowLists;
  /** Initial number of concurrent jobs for this replica. */
  readonly credits: number;
  /** Maximum number of concurrent jobs for all replicas together. */
  readonly maxJobs: number;
  /** Whether it answers a request for its log. */
  readonly sendsLog: boolean;
}

/** Reason to reject an agent; `retry`: whether a later attempt can succeed. */
export interface Rejection {
  readonly reason: "protocol" | "identity" | "capacity" | "revoked" | "flood";
  readonly message: string;
  readonly retry: boolean;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9-]{7,63}$/;
const WORD = /^[a-z0-9][a-z0-9-]{0,31}$/;
const COUNTRY = /^[A-Z]{2}$/;
const MAX_ENTRIES = 100;
const MAX_CREDITS = 100_000;
const MAX_ASN = 4_294_967_295;

/** Validates a hello as untrusted data: the form of every string, the length of every list. */
export function readHello(hello: Hello): { ok: true; agent: AgentInfo } | { ok: false; rejection: Rejection } {
  const refuse = (reason: Rejection["reason"], message: string, retry = false) =>
    ({ ok: false, rejection: { reason, message, retry } }) as const;
  const misfit = protocolFault(hello.protocol);
  // An update of either side can solve it, so the agent retries, but rarely.
  if (misfit !== null) return refuse("protocol", misfit, true);
  const { location } = hello;
  if (!ID.test(hello.agentId)) return refuse("identity", "agent_id must be 8 to 64 letters, digits or hyphens");
  if (location === undefined || !WORD.test(location.region)) {
    return refuse("identity", "region must be 1 to 32 lower-case letters, digits or hyphens");
  }
  if (location.country !== "" && !COUNTRY.test(location.country)) {
    return refuse("identity", "country must be an ISO 3166-1 alpha-2 code");
  }
  const lists = [location.tags, hello.capabilities, hello.allowTargets, hello.allowNames];
  const entries = lists.flat();
  if (lists.some((list) => list.length > MAX_ENTRIES) || entries.some((entry) => entry.length > 256)) {
    return refuse("identity", `each list can have at most ${MAX_ENTRIES} entries of up to 256 characters`);
  }
  if (!location.tags.every((tag) => WORD.test(tag))) return refuse("identity", "tags must be lower-case words");
  // Before protocol 1.1 both were one field. Since then a stream can begin without a credit.
  const maxJobs = Math.max(hello.maxJobs, hello.credits);
  if (maxJobs < 1 || maxJobs > MAX_CREDITS) return refuse("capacity", `max_jobs must be 1 to ${MAX_CREDITS}`);
  const allow: AllowLists = { targets: hello.allowTargets, names: hello.allowNames };
  const egress = tryEgress(allow);
  if (egress === null) return refuse("identity", "allow_targets must be CIDR ranges, allow_names name suffixes");
  return {
    ok: true,
    agent: {
      id: hello.agentId,
      version: hello.version.slice(0, 64),
      place: {
        probe_id: hello.agentId,
        region: location.region,
        country: location.country === "" ? null : location.country,
        city: location.city === "" ? null : location.city.slice(0, 100),
        asn: location.asn === 0 || location.asn > MAX_ASN ? null : location.asn,
        latitude: within(location.latitude, 90),
        longitude: within(location.longitude, 180),
        tags: location.tags,
      },
      capabilities: new Set(hello.capabilities),
      egress,
      allow,
      credits: hello.credits,
      maxJobs,
      sendsLog: hello.sendsLog,
    },
  };
}

/** Returns why the agent's protocol version is not supported; null if it is. Newer minor versions are supported. */
function protocolFault(protocol: Hello["protocol"]): string | null {
  const { major, minor } = PROTOCOL;
  if (protocol?.major === major && protocol.minor >= minor - 1) return null;
  const theirs = protocol === undefined ? "none" : `${protocol.major}.${protocol.minor}`;
  const update = protocol !== undefined && protocol.major > major ? "update the control plane" : "update the agent";
  const oldest = `${major}.${Math.max(0, minor - 1)}`;
  return `the agent uses protocol ${theirs}; this control plane supports ${major}.x from ${oldest}: ${update}`;
}

// Most agents of an installation have equal lists: a target is checked once for all of them.
const egresses = new LRUCache<string, Egress>({ max: 200 });

function tryEgress(allow: AllowLists): Egress | null {
  const key = JSON.stringify([allow.targets, allow.names]);
  const known = egresses.get(key);
  if (known !== undefined) return known;
  try {
    const made = createEgress(allow);
    egresses.set(key, made);
    return made;
  } catch {
    return null; // net.BlockList throws if a text is not an address or prefix
  }
}

function within(degrees: number | undefined, limit: number): number | null {
  return degrees !== undefined && Math.abs(degrees) <= limit ? degrees : null;
}
