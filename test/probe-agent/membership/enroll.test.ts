import { X509Certificate } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import { makeCertificateRequest } from "#probe-agent/membership/certificate-request.ts";
import { enroll, renew, type Enrolment } from "#probe-agent/membership/enroll.ts";
import { findFault, fingerprintOf, type Identity } from "#probe-agent/membership/identity.ts";
import { readToken, type JoinToken } from "#probe-agent/membership/join-token.ts";
import { issue, type Issued } from "#test/servers/pki.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { makeJoinToken } from "#test/support/enrol.ts";

let plane: TestControlPlane;
let address: string;
beforeAll(async () => {
  plane = await startControlPlane();
  address = `127.0.0.1:${plane.grpcPort}`;
});
afterAll(() => plane.stop());

async function newToken(): Promise<JoinToken> {
  return tokenOf(await makeJoinToken(plane, { region: "eu-west" }));
}

function tokenOf(text: string): JoinToken {
  const token = readToken(text);
  if (token === null) throw new Error("no token");
  return token;
}

function identityIn(enrolment: Enrolment): Identity {
  if (!enrolment.ok) throw new Error(enrolment.detail);
  return enrolment.identity;
}

describe("an agent with a token", () => {
  it("gets an identity from the control plane that matches its own key", async () => {
    const identity = identityIn(await enroll(address, await newToken(), makeCertificateRequest()));
    expect(identity.agentId).toMatch(/^eu-west-[0-9a-f]{12}$/);
    expect(findFault(identity)).toBeNull();
    expect(new X509Certificate(identity.certificate).publicKey.asymmetricKeyDetails).toEqual({
      namedCurve: "prime256v1",
    });
  });

  it("is refused with a used token and need not retry", async () => {
    const token = await newToken();
    identityIn(await enroll(address, token, makeCertificateRequest()));
    expect(await enroll(address, token, makeCertificateRequest())).toMatchObject({
      ok: false,
      retry: false,
      detail: expect.stringContaining("used"),
    });
  });

  it("retries if there is no answer", async () => {
    expect(await enroll("127.0.0.1:1", await newToken(), makeCertificateRequest())).toMatchObject({
      ok: false,
      retry: true,
    });
    expect(await enroll("no-such-host.invalid:1", await newToken(), makeCertificateRequest())).toMatchObject({
      ok: false,
      retry: true,
    });
  });

  it("renews its certificate with the current one and another key", async () => {
    const first = identityIn(await enroll(address, await newToken(), makeCertificateRequest()));
    const second = identityIn(await renew(address, first));
    expect(second.agentId).toBe(first.agentId);
    expect(second.key).not.toBe(first.key);
    expect(findFault(second)).toBeNull();
    await plane.operate("DELETE", `/api/admin/probes?id=${first.agentId}`);
    expect(await renew(address, second)).toMatchObject({ ok: false, retry: false });
  });
});

describe("a server that is not the control plane of the token", () => {
  /**
   * Enrols an agent with a token of this authority at a server with this chain. Returns the result and what the server
   * received.
   */
  async function meet(chain: readonly Issued[], authority: Issued): Promise<Enrolment & { heard: string }> {
    let heard = "";
    const server = await startTlsServer({
      chain,
      ALPNProtocols: ["h2"],
      onConnection: (socket) => socket.on("data", (bytes: Buffer) => (heard += bytes.toString("latin1"))),
    });
    const token = tokenOf(`vjt_${"s".repeat(43)}_${fingerprintOf(authority.der)}`);
    const enrolment = await enroll(`127.0.0.1:${server.port}`, token, makeCertificateRequest());
    await server.close();
    return { ...enrolment, heard };
  }

  const names = { subject: `CN=${CONTROL_PLANE_NAME}`, dns: [CONTROL_PLANE_NAME] };

  it("receives nothing with another authority, a self-signed certificate or a foreign leaf", async () => {
    const right = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const wrong = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const forged = await issue({ ...names, issuer: wrong });
    const foreign = { ok: false, retry: false, heard: "" };
    expect(await meet([forged, wrong], right)).toMatchObject(foreign);
    expect(await meet([forged, right], right)).toMatchObject(foreign);
    const nameless = await issue({ ...names, issuer: wrong, noKeyIds: true });
    expect(await meet([nameless, right], right)).toMatchObject(foreign);
    expect(await meet([right], right)).toMatchObject(foreign);
    expect(await meet([await issue(names)], right)).toMatchObject(foreign);
  });

  it("receives nothing as an agent of the same authority, because it lacks the name", async () => {
    const right = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const agent = await issue({ subject: "CN=eu-west-000000000000", issuer: right });
    expect(await meet([agent, right], right)).toMatchObject({ ok: false, retry: false, heard: "" });
    const inSubject = await issue({ subject: names.subject, issuer: right });
    expect(await meet([inSubject, right], right)).toMatchObject({ ok: false, retry: false, heard: "" });
  });

  it("is distinguished from the control plane, which receives the request", async () => {
    const right = await issue({ ca: true, subject: "CN=Vantage agent authority" });
    const own = await issue({ ...names, issuer: right });
    const met = await meet([own, right], right);
    expect(met.heard).toContain("PRI * HTTP/2.0");
    // The server does not speak gRPC.
    expect(met).toMatchObject({ ok: false, retry: true });
  });

  it("is not blamed on the token if it does not speak TLS", async () => {
    const port = Number(new URL(plane.url).port);
    expect(await enroll(`127.0.0.1:${port}`, await newToken(), makeCertificateRequest())).toMatchObject({
      ok: false,
      retry: true,
    });
  });
});
