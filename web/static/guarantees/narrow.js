// Whether the window is too narrow for a table of many columns.
import { useEffect, useState } from '../ui.js';

const narrow = matchMedia('(max-width: 43.75rem)');

/** Hook: whether it is. */
export function useNarrow() {
  const [now, setNow] = useState(narrow.matches);
  useEffect(() => {
    const look = () => setNow(narrow.matches);
    narrow.addEventListener('change', look);
    return () => narrow.removeEventListener('change', look);
  }, []);
  return now;
}
