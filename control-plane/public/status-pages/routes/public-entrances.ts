import type { FastifyReply, FastifyRequest } from "fastify";
import type { AddressLimiter } from "#control-plane/http/access/ports.ts";
import { notFound } from "#control-plane/http/error-handler.ts";
import { Refusal } from "#control-plane/http/errors.ts";
import { keyInHeaders, type Gate } from "#control-plane/http/gate.ts";
import { takeVisit } from "#control-plane/http/visits.ts";
import type { StoredLogo } from "#control-plane/public/status-pages/logos/store.ts";
import type { ArchiveView, IncidentView, PageView } from "#control-plane/public/status-pages/page.ts";

const NO_PAGE = "There is no public status page at this address.";

/** The pages that visitors can see. */
interface PublicPages {
  /** Returns the view of a page; null if there is none that this account, or a visitor without account, can see. */
  view(slug: string, viewerAccountId: number | null): Promise<PageView | null>;
  /** Returns an incident with its page, or a month of its archive (status-pages.ts). */
  incident(slug: string, viewerAccountId: number | null, id: number): Promise<IncidentView | null>;
  archive(slug: string, viewerAccountId: number | null, month: string | null): Promise<ArchiveView | null>;
  /** Returns the logo of a page by its path below the page; null as for view, or if the page has another one. */
  logo(slug: string, viewerAccountId: number | null, path: string): Promise<StoredLogo | null>;
  /** Returns the slug of the page whose own domain is in a Host field; null if there is none. */
  slugOfDomain(host: string): string | null;
}

/** What entrances depend on. */
export interface EntranceDeps {
  /** Returns the account in which the sender of a request is signed in; null: none. */
  readonly memberAccount: (request: FastifyRequest) => Promise<number | null>;
  /** Limits requests without an account by client address. */
  readonly visits: AddressLimiter;
  readonly gate: Gate;
  readonly pages: PublicPages;
}

/** An address of pages: below /status/, or the root of a page's own domain. */
interface Entrance {
  /** Route of the page; "" for the root. */
  readonly prefix: string;
  /** Returns the path of a page as its visitors see it, without a slash at its end. */
  baseOf(view: PageView): string;
  /**
   * Reads what a request is for of its page, for visitors or for the account of its key; with `forMembers`, below /status/
   * also for the account of its session. Throws Refusal if null.
   */
  read<T>(request: FastifyRequest, reply: FastifyReply, read: ReadOfPage<T>, forMembers?: boolean): Promise<Read<T>>;
}

/** What was read. */
interface Read<T> {
  readonly found: T;
  /** Whether everybody may see it; else no cache may keep it. */
  readonly isForAll: boolean;
}

/** Reads something of a page by its slug; null if there is none that the viewer can see. */
type ReadOfPage<T> = (slug: string, viewerAccountId: number | null) => Promise<T | null>;

/**
 * Creates the addresses of pages. They limit requests by client address before they look for a page. A request with a
 * key counts against the limits of its account and can see pages of the account that are not public; so can its members,
 * where they are signed in: at the service's own host.
 */
export function createEntrances({ memberAccount, visits, gate, pages }: EntranceDeps): readonly Entrance[] {
  async function readOf<T>(
    slug: string,
    request: FastifyRequest,
    reply: FastifyReply,
    read: ReadOfPage<T>,
    forMembers = false,
  ): Promise<Read<T>> {
    const viewer = keyInHeaders(request) === null ? null : await gate.admit(request, reply, { scope: null });
    const found = await read(slug, viewer?.accountId ?? null);
    if (found !== null) return { found, isForAll: viewer === null };
    // Only what visitors cannot see needs to know who is signed in.
    const member = forMembers && viewer === null ? await memberAccount(request) : null;
    const own = member === null ? null : await read(slug, member);
    // One text for all: a visitor cannot learn whether a page that is not public exists.
    if (own === null) throw new Refusal("not_found", NO_PAGE);
    return { found: own, isForAll: false };
  }

  return [
    {
      prefix: "/status/:slug",
      baseOf: ({ slug }) => `/status/${slug}`,
      async read(request, reply, read, forMembers = false) {
        takeVisit(visits, request);
        const isService = pages.slugOfDomain(request.headers.host ?? "") === null;
        const { slug } = request.params as { readonly slug: string };
        return await readOf(slug, request, reply, read, forMembers && isService);
      },
    },
    {
      prefix: "",
      baseOf: () => "",
      async read(request, reply, read) {
        takeVisit(visits, request);
        const slug = pages.slugOfDomain(request.headers.host ?? "");
        if (slug === null) throw notFound();
        return await readOf(slug, request, reply, read);
      },
    },
  ];
}
