import { JSON_HEADERS, type Format } from "#control-plane/webhooks/formats/format.ts";

/** The body that the documentation of the service describes, as it is stored. */
export const standard: Format = {
  name: "standard",
  title: "Standard",
  options: [],
  build: ({ body }, { url }) => ({ url, headers: JSON_HEADERS, body }),
};
