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
 * Registers GET /install/agent.sh, /install/SHA256SUMS and /install/<archive>: what `sh` needs to add an agent to a host,
 * of the version that runs here. `installer` is null in a clone.
 */
export function registerInstall(
  server: FastifyInstance,
  { clock, log, installer }: Pick<App, "clock" | "log"> & { readonly installer: Installer | null },
): void {
  const visits = createAddressLimiter({ clock, limit: PER_MINUTE, windowSeconds: 60 });

  function route(
    url: string,
    described: { readonly id: string; readonly summary: string; readonly description: string; readonly plain: string },
    handler: (request: FastifyRequest, reply: FastifyReply, here: Installer) => FastifyReply | Promise<FastifyReply>,
  ): void {
    const schema = operation({
      ...described,
      tag: "Installation",
      security: "none",
      data: Type.String(),
      errors: ["not_found", "rate_limit_exceeded", "service_unavailable"],
    });
    for (const method of ["GET", "HEAD"] as const)
      server.route({
        method,
        url,
        config: { renderError },
        schema: { ...schema, hide: method === "HEAD" },
        handler(request, reply) {
          takeVisit(visits, request);
          if (installer === null) throw new Refusal("not_found", IN_A_CLONE);
          return handler(request, reply, installer);
        },
      });
  }

  route(
    "/install/agent.sh",
    {
      id: "read_install_script",
      summary: "Get the script that installs an agent",
      description: "For a root shell of a Linux host; a join token comes with the line that runs it.",
      plain: "text/x-shellscript",
    },
    (_request, reply, { script }) =>
      reply.header("cache-control", "no-cache").type("text/x-shellscript; charset=utf-8").send(script.text),
  );
  route(
    "/install/SHA256SUMS",
    {
      id: "read_install_digests",
      summary: "Get the digests of script and archive",
      description: "In the form of sha256sum(1).",
      plain: "text/plain",
    },
    (_request, reply, { bundle, script }) =>
      reply
        .header("cache-control", "no-cache")
        .type(PLAIN)
        .send(`${script.sha256}  agent.sh\n${bundle.sha256}  ${bundle.file}\n`),
  );
  route(
    "/install/:archive",
    {
      id: "read_install_archive",
      summary: "Get the archive of the agent",
      description: "The one of the release that runs here, by its name in SHA256SUMS. The first request makes it.",
      plain: "application/gzip",
    },
    async (request, reply, { bundle }) => {
      const { archive } = request.params as { readonly archive: string };
      if (archive !== bundle.file) throw new Refusal("not_found", `This service has ${bundle.file} alone.`);
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
    },
  );
}

const IN_A_CLONE = `This service runs from a clone, which has no archive of an agent.
Make packages and run the service from one: npm run package
Or start an agent from a clone on its host: ${LAUNCHER} probes token --region REGION prints the command`;
