import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Hello } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/protocol/wire.ts";
import { readHello, type AgentInfo } from "#control-plane/checks/dispatch/hello.ts";

/** Schema that checks types only. readHello checks forms and lengths, as for a hello from the wire. */
const STORED = Compile(
  Type.Object({
    version: Type.String(),
    location: Type.Object({
      city: Type.String(),
      country: Type.String(),
      latitude: Type.Optional(Type.Number()),
      longitude: Type.Optional(Type.Number()),
      asn: Type.Integer({ minimum: 0 }),
      tags: Type.Array(Type.String()),
    }),
    capabilities: Type.Array(Type.String()),
    allowTargets: Type.Array(Type.String()),
    allowNames: Type.Array(Type.String()),
  }),
);

/**
 * Returns an agent's hello as JSON for probes.hello, without the facts of its enrolment. readHello accepts it again.
 */
export function toStoredHello({ version, place, capabilities, allow }: AgentInfo): string {
  const { city, country, latitude, longitude, asn, tags } = place;
  const hello = {
    version,
    location: {
      city: city ?? "",
      country: country ?? "",
      ...(latitude === null ? {} : { latitude }),
      ...(longitude === null ? {} : { longitude }),
      asn: asn ?? 0,
      tags,
    },
    capabilities: [...capabilities],
    allowTargets: allow.targets,
    allowNames: allow.names,
  };
  // PostgreSQL refuses NUL and lone surrogates in jsonb: one such name would make the write of all agents fail.
  return JSON.stringify(hello, (_key, value: unknown) =>
    typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : value,
  );
}

/**
 * Returns the agent of a row of probes, from its last hello and the region of its enrolment. An agent that has sent no
 * hello yet, or an old hello that is no longer accepted, only has its region.
 */
export function parseStoredHello(id: string, region: string, text: string | null): AgentInfo {
  const fields = text === null ? null : parse(text);
  const read = fields === null ? null : readHello(toHello(id, region, fields));
  if (read?.ok === true) return read.agent;
  const empty = readHello(toHello(id, region, EMPTY_HELLO));
  if (empty.ok) return empty.agent;
  throw new Error(`probe ${id} is enrolled with an id or region that is not valid in a hello`);
}

type HelloFields = Pick<Hello, "version" | "capabilities" | "allowTargets" | "allowNames"> & {
  location: Omit<NonNullable<Hello["location"]>, "region">;
};

const EMPTY_HELLO: HelloFields = {
  version: "",
  location: { city: "", country: "", asn: 0, tags: [] },
  capabilities: [],
  allowTargets: [],
  allowNames: [],
};

function toHello(agentId: string, region: string, { location, ...fields }: HelloFields): Hello {
  const stream = { credits: 1, maxJobs: 1, sendsLog: false };
  return { protocol: PROTOCOL, agentId, ...fields, location: { ...location, region }, ...stream };
}

function parse(text: string): HelloFields | null {
  try {
    const json: unknown = JSON.parse(text);
    return STORED.Check(json) ? json : null;
  } catch {
    return null;
  }
}
