import { createEgress, type AllowLists, type Egress } from "#shared/egress.ts";
import type { Place } from "#shared/locations.ts";
import type { Hello } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/wire.ts";

/** What an agent says of itself, checked and bounded. */
export interface AgentInfo {
  readonly id: string;
  readonly version: string;
  readonly place: Place;
  readonly capabilities: ReadonlySet<string>;
  /** What this agent may reach: the public internet and its own allow lists (decisions 12). */
  readonly egress: Egress;
  readonly allow: AllowLists;
  /** Jobs it takes at once. */
  readonly credits: number;
}

/** Why an agent is turned away; `retry` says whether dialling again later can help. */
export interface Rejection {
  readonly reason: "protocol" | "identity" | "capacity" | "revoked";
  readonly message: string;
  readonly retry: boolean;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9-]{7,63}$/;
const WORD = /^[a-z0-9][a-z0-9-]{0,31}$/;
const COUNTRY = /^[A-Z]{2}$/;
const MAX_ENTRIES = 100;
const MAX_CREDITS = 100_000;
const MAX_ASN = 4_294_967_295;

/** Reads a hello as data from a stranger: every string by its form, every list by its length. */
export function readHello(hello: Hello): { ok: true; agent: AgentInfo } | { ok: false; rejection: Rejection } {
  const refuse = (reason: Rejection["reason"], message: string, retry = false) =>
    ({ ok: false, rejection: { reason, message, retry } }) as const;
  if (hello.protocol?.major !== PROTOCOL.major) {
    return refuse("protocol", `this control plane speaks protocol ${PROTOCOL.major}.x; update the agent`);
  }
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
    return refuse("identity", `lists hold at most ${MAX_ENTRIES} entries of 256 characters`);
  }
  if (!location.tags.every((tag) => WORD.test(tag))) return refuse("identity", "tags are lower-case words");
  if (hello.credits < 1 || hello.credits > MAX_CREDITS) return refuse("capacity", "credits must be at least 1");
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
    },
  };
}

function tryEgress(allow: AllowLists): Egress | null {
  try {
    return createEgress(allow);
  } catch {
    return null; // net.BlockList throws on what is no address or prefix
  }
}

function within(degrees: number | undefined, limit: number): number | null {
  return degrees !== undefined && Math.abs(degrees) <= limit ? degrees : null;
}
