import { useEffect, useState } from "preact/hooks";

/** After this time a person is told that the service is slow, ms. */
const slowMs = 5000;

/** Says that something is being read, and when that takes long, why nothing is there. */
export const Reading = () => {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(setSlow, slowMs, true);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="muted" role="status">
      Reading …{isSlow && " The service takes long to answer."}
    </p>
  );
};
