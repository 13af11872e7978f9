import { z } from "zod";

/** A host with an optional port: `shop.example`, `127.0.0.1:8443`. The HTTP API writes it in lower case. */
export const hostName = z
  .string()
  .max(260)
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$/);
