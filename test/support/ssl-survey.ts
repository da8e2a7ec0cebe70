import type { Configuration } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createProber } from "#probe-agent/tools/ssl/prober.ts";
import { surveyServer } from "#probe-agent/tools/ssl/survey.ts";
import { startScriptedTls, type Script } from "#test/servers/tls-scripted.ts";
import { startWireServer, type WireHandler } from "#test/servers/wire.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";

/** Limits of a survey. The default is generous. */
export interface SurveyBounds {
  readonly connections?: number;
  readonly questionMs?: number;
  readonly totalMs?: number;
}

/** Servers that a test closes at its end. */
export interface Closing {
  close(): Promise<void>;
}

/** Surveys the server at a port. */
export async function surveyPort(port: number, bounds: SurveyBounds = {}): Promise<Configuration> {
  const { connections = 150, questionMs = 2000, totalMs = 15_000 } = bounds;
  const limits = jobLimits(20_000);
  const tls = createTls({ clock: systemClock, random: systemRandom, egress: loopbackEgress })(limits);
  const net = netOf({ tls }, limits);
  const target = { ip: "127.0.0.1", port, servername: "tls.example" };
  const common = { until: net.monotonic() + totalMs, questionMs, usualMs: 1 };
  const lists = createProber(net, target, { ...common, connections });
  return await surveyServer({ lists, features: createProber(net, target, { ...common, connections: 60 }) }, 23);
}

/** Surveys a scripted server and adds it to those to close. */
export async function scripted(open: Closing[], script: Script, bounds?: SurveyBounds) {
  const server = await startScriptedTls(script);
  open.push(server);
  return { seen: await surveyPort(server.port, bounds), server };
}

/** Surveys a server of octets and adds it to those to close. */
export async function wired(open: Closing[], handler: WireHandler, bounds?: SurveyBounds): Promise<Configuration> {
  const server = await startWireServer(handler);
  open.push(server);
  return surveyPort(server.port, bounds);
}

/** Returns one character for each version, oldest first: offered, not offered, unknown. */
export function offered({ versions }: Configuration): string {
  return versions.map((one) => (one.offered === null ? "?" : one.offered ? "+" : "-")).join("");
}

/** Returns the names of a version's suites, without TLS_. */
export function names({ suites }: Configuration, wire: number): string[] {
  const codes = suites.find(({ version }) => version.wire === wire)?.codes ?? [];
  return codes.map((code) => (SUITES.get(code)?.name ?? "").slice(4));
}

/** Repeats octets a thousand times. */
export function many(...octets: readonly number[]): Uint8Array {
  return Buffer.concat(Array.from({ length: 1000 }, () => Buffer.from(octets)));
}
