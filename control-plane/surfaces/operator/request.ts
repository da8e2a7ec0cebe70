import { setTimeout as sleep } from "node:timers/promises";
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { createListRule } from "#shared/egress/addresses.ts";
import type { Config } from "#control-plane/core/config.ts";
import { createClientAddress, createScheme } from "#control-plane/http/connection/client-address.ts";
import { LARGEST_BODY } from "#control-plane/http/body.ts";
import type { Hook } from "#control-plane/http/gate.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import { answer } from "#control-plane/http/request.ts";

/** Time between the first byte of an answer and the others, milliseconds. */
const PAUSE_MS = 1_000;

const SEEN = Type.Object({
  scheme: Type.Enum(["http", "https"], { description: "Scheme of the URL, by the listener or a trusted proxy" }),
  host: Type.String({ description: "The Host header field" }),
  client_address: Type.String({ description: "Address of the caller, behind trusted proxies" }),
  peer_address: Type.String({ description: "Address of the connection" }),
  is_forwarded: Type.Boolean({ description: "Whether the connection is of a trusted proxy that names its client" }),
  http_version: Type.String({ description: "Of the connection: 1.1 or 1.0" }),
});

/** Registers POST /api/admin/request: how a request looks here, so that `doctor` finds what a proxy in front does to it. */
export function registerAdminRequest(
  server: FastifyInstance,
  admin: Hook,
  { trustedProxies, tls }: Pick<Config, "trustedProxies" | "tls">,
): void {
  const peerAddress = createClientAddress([]);
  const isTrusted = createListRule(trustedProxies);
  const schemeOf = createScheme(trustedProxies, tls === null ? "http" : "https");
  server.route({
    method: "POST",
    url: "/api/admin/request",
    onRequest: admin,
    bodyLimit: LARGEST_BODY,
    schema: operation({
      id: "admin_inspect_request",
      tag: "Admin",
      summary: "Show how a request arrives, through a proxy or without one",
      description:
        "The body is read, up to the size of the largest that any path takes, and ignored. The first byte of the answer is " +
        "sent at once and the others one second later: behind a proxy that buffers answers they arrive together.",
      data: SEEN,
      errors: ["payload_too_large"],
      security: "operator",
    }),
    handler: (request, reply) => {
      const { headers, raw } = request;
      const forwarded = headers["x-forwarded-proto"];
      const peer = peerAddress(raw.socket.remoteAddress, undefined);
      const body = answer(request, {
        scheme: schemeOf(raw.socket.remoteAddress, typeof forwarded === "string" ? forwarded : undefined),
        host: headers.host ?? "",
        client_address: request.clientAddress,
        peer_address: peer,
        is_forwarded: headers["x-forwarded-for"] !== undefined && isTrusted(peer),
        http_version: raw.httpVersion,
      });
      async function* pieces(): AsyncGenerator<string> {
        yield "\n";
        await sleep(PAUSE_MS);
        yield JSON.stringify(body);
      }
      return reply
        .type("application/json; charset=utf-8")
        .headers({ "cache-control": "no-store", "x-accel-buffering": "no" })
        .send(Readable.from(pieces()));
    },
  });
}
