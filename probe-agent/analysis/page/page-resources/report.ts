import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { parseLinkHeader } from "#probe-agent/analysis/http/link-header.ts";
import { findResources } from "#probe-agent/analysis/page/page-resources.ts";
import type { ReadPage } from "#probe-agent/analysis/html/pages/reading.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";

/** Reports the resources that a page makes a browser load. `dom` is null if the response is not HTML. */
export function pageResources({ page, url, headers }: ReadPage) {
  const links = parseLinkHeader(headerValues(headers, "link"));
  return {
    found: findResources(page ?? readHtml(""), url, links),
    dom: page === null ? null : { elements: page.document.elements, depth: page.document.depth },
  };
}
