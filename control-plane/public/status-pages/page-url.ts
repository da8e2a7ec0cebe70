import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** What the address of a page depends on. */
export type AddressedPage = Pick<StatusPage, "slug" | "domain" | "domainState">;

/**
 * Creates the function that returns the address of a page, without a slash at its end: its own domain once that is
 * verified, else below the address of the service.
 */
export function createPageUrls(baseUrl: string): (page: AddressedPage) => string {
  const { protocol } = new URL(baseUrl);
  return ({ slug, domain, domainState }) =>
    domainState === "verified" ? `${protocol}//${domain}` : `${baseUrl}/status/${slug}`;
}
