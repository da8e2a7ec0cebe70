import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Hello } from "#shared/protocol/probe.ts";
import { PROTOCOL } from "#shared/wire.ts";
import { readHello, type AgentInfo } from "#control-plane/dispatch/hello.ts";

/** Types only: forms and lengths are readHello's affair, on this word as on one from the wire. */
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

/** What an agent said of itself, as JSON for probes.hello: a hello that readHello takes again, less what enrolment says. */
export function storedHello({ version, place, capabilities, allow }: AgentInfo): string {
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
  // PostgreSQL refuses NUL and halves of surrogate pairs in jsonb: one odd name would keep all others from being written.
  return JSON.stringify(hello, (_key, value: unknown) =>
    typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : value,
  );
}

/**
 * The agent of a row of probes: its own last word, in the region it was enrolled for. An agent that has said nothing yet,
 * or whose word of long ago would not be taken today, is known by its region alone.
 */
export function readStoredHello(id: string, region: string, text: string | null): AgentInfo {
  const word = text === null ? null : parse(text);
  const read = word === null ? null : readHello(helloOf(id, region, word));
  if (read?.ok === true) return read.agent;
  const silent = readHello(helloOf(id, region, SILENT));
  if (silent.ok) return silent.agent;
  throw new Error(`probe ${id} is enrolled under a name or region that no hello may have`);
}

type Word = Pick<Hello, "version" | "capabilities" | "allowTargets" | "allowNames"> & {
  location: Omit<NonNullable<Hello["location"]>, "region">;
};

const SILENT: Word = {
  version: "",
  location: { city: "", country: "", asn: 0, tags: [] },
  capabilities: [],
  allowTargets: [],
  allowNames: [],
};

function helloOf(agentId: string, region: string, { location, ...word }: Word): Hello {
  return { protocol: PROTOCOL, agentId, ...word, location: { ...location, region }, credits: 1, maxJobs: 1 };
}

function parse(text: string): Word | null {
  try {
    const json: unknown = JSON.parse(text);
    return STORED.Check(json) ? json : null;
  } catch {
    return null;
  }
}
