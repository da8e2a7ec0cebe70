import type { FastifyRequest } from "fastify";
import { Refusal } from "#control-plane/http/errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the route belongs to a status page, so that it is served at the page's own domain as well. */
    isOfPage?: true;
  }
}

/**
 * Returns the check that keeps everything but the paths of its page from a page's own domain: people trust that name for
 * the page alone, not for the rest of the service. `slugOfDomain` returns the slug of the page whose domain is in a Host
 * field, null if there is none.
 */
export function refuseOthersAtDomains(
  slugOfDomain: (host: string) => string | null,
): (request: FastifyRequest) => Refusal | undefined {
  return ({ headers, routeOptions, params }) => {
    const slug = slugOfDomain(headers.host ?? "");
    if (slug === null) return undefined;
    const { slug: asked = slug } = params as { readonly slug?: string };
    const isServed = routeOptions.config.isOfPage === true && asked === slug;
    return isServed ? undefined : new Refusal("not_found", "This status page has no such path.");
  };
}
