import { createRoot } from "react-dom/client";

function Frames() {
  return (
    <>
      <iframe src="one.html" width="500" height="400" />
      <iframe srcDoc="<p>From srcdoc</p>" width="500" height="100" />
    </>
  );
}

createRoot(document.getElementById("root")).render(<Frames />);
