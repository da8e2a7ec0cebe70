/** What a viewport meta element asks for. */
interface Viewport {
  /** The page is as wide as the device. */
  readonly deviceWidth: boolean;
  /** Visitors cannot zoom in. */
  readonly zoomBlocked: boolean;
}

/** Reads the content of a viewport meta element; settings are apart by commas, semicolons or spaces. */
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
