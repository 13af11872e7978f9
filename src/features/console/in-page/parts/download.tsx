import { useState } from "preact/hooks";
import { open } from "../service/api.ts";
import { complain } from "./notice.tsx";

/** How long the browser has to begin with the file, ms. */
const keptMs = 60_000;

/** A button that downloads an answer of the API as a file of this name. */
export const DownloadButton = ({ path, name }: { path: string; name: string }) => {
  const [isBusy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    setBusy(true);
    try {
      const address = URL.createObjectURL(await (await open("GET", path)).blob());
      const link = document.createElement("a");
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), keptMs);
    } catch (error) {
      complain(error);
    }
    setBusy(false);
  };
  return (
    <button type="button" disabled={isBusy} onClick={() => void download()}>
      {isBusy ? "Downloading …" : "Download"}
    </button>
  );
};
