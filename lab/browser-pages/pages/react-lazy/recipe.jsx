const OXIDES = ["silica", "alumina", "lime", "potash", "soda", "magnesia", "zinc", "barium", "lithia", "boron", "iron", "copper", "cobalt", "tin"];

export default function Recipe() {
  return (
    <section>
      <h2>Recipe with {OXIDES.length} oxides</h2>
      <ol>{OXIDES.map((oxide) => <li key={oxide}>{oxide}</li>)}</ol>
    </section>
  );
}
