/** Settings of a viewport meta element. */
interface Viewport {
  /** Whether the page is as wide as the device. */
  readonly deviceWidth: boolean;
  /** Whether the page prevents visitors from zooming in. */
  readonly zoomBlocked: boolean;
}

/** Parses the content of a viewport meta element. Settings are separated by commas, semicolons or spaces. */
export function readViewport(content: string): Viewport {
  const settings = content
    .slice(0, 1000)
    .toLowerCase()
    .split("=")
    .map((part) => part.trim())
    .join("=")
    .split(/[,;\s]+/);
  return {
    deviceWidth: settings.includes("width=device-width"),
    zoomBlocked: settings.includes("user-scalable=no") || settings.includes("user-scalable=0"),
  };
}
