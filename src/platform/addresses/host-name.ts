import { z } from "zod";

const label = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?";

/** A host with an optional port: `shop.example`, `127.0.0.1:8443`. The HTTP API writes it in lower case. */
export const hostName = z
  .string()
  .max(260)
  .regex(new RegExp(`^${label}(\\.${label})*(:[0-9]{1,5})?$`));
