import { createReadStream } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { App } from "#control-plane/core/app.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { createAddressLimiter } from "#control-plane/http/limits/address.ts";
import { operation } from "#control-plane/http/operations/operation.ts";
import type { ErrorRenderer } from "#control-plane/http/request.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { Installer } from "#control-plane/surfaces/install/installer.ts";

/** Requests of one client address a minute: an installation makes two, one of them for 50 MB. */
const PER_MINUTE = 30;
const PLAIN = "text/plain; charset=utf-8";

/** A shell and a terminal show errors as they are. */
const renderError: ErrorRenderer = ({ details }, _request, reply) => {
  reply.type(PLAIN);
  return `${details.message}\n`;
};

/**
 * Registers GET /install/<file>: the script and the archive that add an agent of the version that runs here to a host, and
 * their digests. `installer` is null in a clone.
 */
export function registerInstall(
  server: FastifyInstance,
  { clock, log, installer }: Pick<App, "clock" | "log"> & { readonly installer: Installer | null },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });

  async function sendArchive(request: FastifyRequest, reply: FastifyReply, { bundle }: Installer) {
    const opened = await bundle.open();
    if (!opened.ok) {
      log.error({ reason: opened.line }, "the archive of the agent cannot be made");
      throw new Refusal("service_unavailable", `The archive cannot be made: ${opened.line}.`);
    }
    reply
      .header("cache-control", "public, max-age=31536000, immutable")
      .header("content-length", opened.size)
      .type("application/gzip");
    return reply.send(request.method === "HEAD" ? undefined : createReadStream(opened.path));
  }

  for (const method of ["GET", "HEAD"] as const)
    server.route<{ Params: { file: string } }>({
      method,
      url: "/install/:file",
      config: { renderError },
      schema: { ...DOCUMENTED, hide: method === "HEAD" },
      async handler(request, reply) {
        takeVisit(visits, request);
        if (installer === null) throw new Refusal("not_found", IN_A_CLONE);
        const { bundle, script } = installer;
        reply.header("cache-control", "no-cache");
        switch (request.params.file) {
          case "agent.sh":
            return reply.type("text/x-shellscript; charset=utf-8").send(script.text);
          case "SHA256SUMS":
            return reply.type(PLAIN).send(`${script.sha256}  agent.sh\n${bundle.sha256}  ${bundle.file}\n`);
          case bundle.file:
            return await sendArchive(request, reply, installer);
          default:
            throw new Refusal("not_found", `This service has agent.sh, SHA256SUMS and ${bundle.file} alone.`);
        }
      },
    });
}

const DOCUMENTED = operation({
  id: "read_install_file",
  tag: "Installation",
  summary: "Get a file that adds an agent to a host",
  description:
    "agent.sh is the script for a root shell of a Linux host; a join token comes with the line that runs it. SHA256SUMS has " +
    "the digests of the script and of the archive, which it names. A service that runs from a clone has none of them.",
  security: "none",
  plain: "*/*",
  data: Type.String(),
  errors: ["not_found", "rate_limit_exceeded", "service_unavailable"],
});

const IN_A_CLONE = `This service runs from a clone, which has no archive of an agent.
Make packages and run the service from one: npm run package
Or start an agent from a clone on its host: ${LAUNCHER} probes token --region REGION prints the command`;
