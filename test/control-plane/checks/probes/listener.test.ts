import { once } from "node:events";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { pino } from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Clock } from "#shared/time/clock.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { listenGrpc, type GrpcListener } from "#control-plane/checks/dispatch/grpc.ts";
import { CONNECTION_LIMITS } from "#control-plane/checks/dispatch/grpc/limits.ts";
import { createHub, type Hub } from "#control-plane/checks/dispatch/hub.ts";
import { createAuthority, openAuthority, type Authority } from "#control-plane/checks/probes/authority.ts";
import { openListenerIdentity } from "#control-plane/checks/probes/authorities.ts";
import { createManualClock, systemClock, systemRandom } from "#test/support/clock.ts";
import { until } from "#test/support/until.ts";

const log = pino({ level: "silent" });
const DAY_MS = 86_400_000;
let clock: ReturnType<typeof createManualClock>;
/** How often the identity has looked whether its certificate expires. */
let looks: number;
let authority: Authority;
let identity: Awaited<ReturnType<typeof openListenerIdentity>>;
let hub: Hub;
let listener: GrpcListener;

beforeEach(async () => {
  clock = createManualClock(new Date());
  authority = await openAuthority(await createAuthority(clock, systemRandom), clock, systemRandom);
  looks = 0;
  const seen: Clock = {
    ...clock,
    now() {
      looks += 1;
      return clock.now();
    },
  };
  const authorities = { serving: () => authority, accepted: () => [authority.pem], onChange: () => {} };
  identity = await openListenerIdentity(authorities, { clock: seen, log, everyMs: 20 });
  hub = createHub({ clock: systemClock, random: systemRandom, log, registry: new Registry() });
  const nobody = () => Promise.reject(new Error("not asked in this test"));
  listener = await listenGrpc({
    hub,
    address: { host: "127.0.0.1", port: 0 },
    limits: { ...CONNECTION_LIMITS, strangers: 10, agents: 10 },
    security: {
      identity,
      authorities: () => [],
      gatekeeper: { admit: nobody, onChange: () => {} },
      enrolment: { enroll: nobody, renew: nobody },
    },
    clock: systemClock,
    log,
    registry: new Registry(),
  });
});

afterEach(async () => {
  identity.close();
  hub.stop();
  await listener.stop();
});

/** Returns what the listener presents to a client with these TLS versions that trusts only the authority. */
async function shake(maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<{ peer: PeerCertificate; protocol: string | null }> {
  const socket: TLSSocket = connect({
    port: listener.port,
    host: "127.0.0.1",
    servername: CONTROL_PLANE_NAME,
    ca: authority.pem,
    ALPNProtocols: ["h2"],
    minVersion: "TLSv1.2",
    maxVersion,
  });
  await once(socket, "secureConnect");
  const shown = { peer: socket.getPeerCertificate(), protocol: socket.getProtocol() };
  socket.destroy();
  return shown;
}

it("the listener accepts TLS 1.3 for the fixed name, and no older version", async () => {
  expect(await shake("TLSv1.3")).toMatchObject({ protocol: "TLSv1.3", peer: { subject: { CN: CONTROL_PLANE_NAME } } });
  await expect(shake("TLSv1.2")).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
});

it("the listener renews its certificate a month before expiry without a restart, still with TLS 1.3 only", async () => {
  const { peer } = await shake("TLSv1.3");
  clock.advance(59 * DAY_MS);
  const before = looks;
  await until(() => looks > before + 1, "a look at the clock");
  expect((await shake("TLSv1.3")).peer.serialNumber).toBe(peer.serialNumber);
  // Issued by a clock two months ahead, it is not yet valid for this host, which shows that it is the new one.
  const renewed = new Promise((resolve) => identity.onRenew(resolve));
  clock.advance(1 * DAY_MS);
  await renewed;
  expect(identity.current().chain).toContain(authority.pem);
  await expect(shake("TLSv1.3")).rejects.toMatchObject({ code: "CERT_NOT_YET_VALID" });
  await expect(shake("TLSv1.2")).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
});
