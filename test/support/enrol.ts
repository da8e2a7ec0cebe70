// oxlint-disable-next-line import/no-unassigned-import -- x509 needs its side effect before it loads
import "reflect-metadata";
import { createHash, createPrivateKey, webcrypto, X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import type { ServiceError } from "@grpc/grpc-js";
import * as x509 from "@peculiar/x509";
import type { EnrollResponse } from "#shared/protocol/probe.ts";
import { CONTROL_PLANE_NAME } from "#shared/protocol/wire.ts";
import type { Answer, TestControlPlane } from "#test/support/control-plane.ts";
import { clientCredentials, dialProbe } from "#test/support/dial.ts";

x509.cryptoProvider.set(webcrypto as never);

/** Credentials of an enrolled agent, all in PEM. */
export interface AgentIdentity {
  readonly agentId: string;
  readonly certificate: string;
  readonly caCertificate: string;
  readonly privateKey: string;
}

/** A key and a certificate request for it. */
export interface CertificateRequest {
  /** DER. */
  readonly der: Buffer;
  /** PEM. */
  readonly privateKey: string;
}

/** Creates a request as an agent does. Other curves and subjects are for requests that must be rejected. */
export async function makeRequest(namedCurve = "P-256", subject = "CN=anyone"): Promise<CertificateRequest> {
  const algorithm = { name: "ECDSA", namedCurve };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey));
  const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" }).export({
    format: "pem",
    type: "pkcs8",
  });
  return { der: Buffer.from(request.rawData), privateKey: privateKey.toString() };
}

/** Fields of a request for a join token. */
export interface TokenFields {
  readonly region: string;
  readonly ttl_seconds?: number;
  readonly reusable?: boolean;
  readonly account_id?: number;
}

/** Creates a join token through the operator's API. */
export async function makeJoinToken(plane: Pick<TestControlPlane, "operate">, fields: TokenFields): Promise<string> {
  const made: Answer = await plane.operate("POST", "/api/admin/probe-tokens", fields);
  if (made.status !== 201) throw new Error(made.text);
  return (made.body.data as { token: string }).token;
}

/**
 * Returns the authority's certificate (PEM) from the end of the listener's chain after comparing it with the
 * fingerprint of a join token, which lets an agent trust a control plane that it has never contacted.
 */
export function fetchAuthority(port: number, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port,
      host: "127.0.0.1",
      servername: CONTROL_PLANE_NAME,
      ALPNProtocols: ["h2"],
      rejectUnauthorized: false,
    });
    socket.once("error", reject).once("secureConnect", () => {
      const { issuerCertificate } = socket.getPeerCertificate(true);
      socket.destroy();
      const { raw } = issuerCertificate;
      if (createHash("sha256").update(raw).digest("hex") === token.slice(-64)) {
        resolve(new X509Certificate(raw).toString());
      } else reject(new Error("this is not the control plane the token is for"));
    });
  });
}

/** Calls Enroll. Rejects with the ServiceError. */
export async function callEnroll(
  port: number,
  caCertificate: string,
  joinToken: string,
  certificateRequest: Buffer,
): Promise<EnrollResponse> {
  const client = dialProbe(port, clientCredentials(caCertificate));
  try {
    return await new Promise<EnrollResponse>((resolve, reject) => {
      client.enroll({ joinToken, certificateRequest }, (error: ServiceError | null, response) => {
        if (error === null) resolve(response);
        else reject(error);
      });
    });
  } finally {
    client.close();
  }
}

/** Calls Renew with or without an identity. Rejects with the ServiceError. */
export async function callRenew(
  port: number,
  caCertificate: string,
  own: AgentIdentity | null,
  certificateRequest: Buffer,
  follows = false,
): Promise<EnrollResponse> {
  const client = dialProbe(port, clientCredentials(caCertificate, own));
  try {
    return await new Promise<EnrollResponse>((resolve, reject) => {
      client.renew({ certificateRequest, follows }, (error: ServiceError | null, response) => {
        if (error === null) resolve(response);
        else reject(error);
      });
    });
  } finally {
    client.close();
  }
}

/** Combines a response and the key of its request to an identity. */
export function identityOf(response: EnrollResponse, request: CertificateRequest): AgentIdentity {
  return {
    agentId: response.agentId,
    certificate: new X509Certificate(response.certificate).toString(),
    caCertificate: new X509Certificate(response.caCertificate).toString(),
    privateKey: request.privateKey,
  };
}

/** Enrols an agent with a token from the operator's API, a certificate request, and Enroll over TLS. */
export async function enrol(
  plane: Pick<TestControlPlane, "operate" | "grpcPort">,
  region: string,
  fields: Omit<TokenFields, "region"> = {},
): Promise<AgentIdentity> {
  const token = await makeJoinToken(plane, { region, ...fields });
  const request = await makeRequest();
  const authority = await fetchAuthority(plane.grpcPort, token);
  return identityOf(await callEnroll(plane.grpcPort, authority, token, request.der), request);
}
