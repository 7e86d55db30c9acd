export default function Page({ members }) {
  return (
    <main>
      <h1>Rowing club</h1>
      <p>Members: {members}</p>
      <p>The club rows on the upper reach from April to October. Boats are kept in the long shed, and every member has a key. Beginners are taught on Saturdays by the older members.</p>
    </main>
  );
}
