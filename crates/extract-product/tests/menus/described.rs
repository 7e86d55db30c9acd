//! Menus in JSON-LD and microdata.

use crate::{check, check_none};

fn json_ld(json: &str) -> String {
    format!("<title>T</title><script type='application/ld+json'>{json}</script><h1>Welcome</h1>")
}

#[test]
fn nested_sections_are_those_with_items() {
    let html = json_ld(
        r#"{"@type": "Restaurant", "name": "Luce", "hasMenu": [{"@type": "Menu", "name": "Food", "hasMenuSection": [
            {"@type": "MenuSection", "name": "Mains", "hasMenuSection": [
                {"@type": "MenuSection", "name": "Pasta", "hasMenuItem": {"@type": "MenuItem", "name": "Penne", "offers": {"price": 9}}},
                {"@type": "MenuSection", "name": "Empty"},
                {"@type": "MenuSection", "name": "Fish", "hasMenuItem": [{"@type": "MenuItem", "name": "Cod", "offers": {"price": "1,150.00", "priceCurrency": "JPY"}}]}]}]},
            {"@type": "Menu", "name": "Drinks", "hasMenuItem": [{"@type": "MenuItem", "name": "Beer"}]}]}"#,
    );
    check(&html, "Luce | JPY\n# Pasta\nPenne | 9\n# Fish\nCod | 1150\n# Drinks\nBeer");
}

#[test]
fn several_offers_are_sizes() {
    let html = json_ld(
        r#"{"@type": ["CafeOrCoffeeShop", "Thing"], "name": "Bean", "menu": {"@type": "http://schema.org/Menu", "hasMenuSection":
            {"@type": "MenuSection", "name": "Coffee", "hasMenuItem": [
                {"@type": "MenuItem", "name": "Latte", "offers": [{"name": "Large", "price": 4.5, "priceCurrency": "USD"}, {"name": "Small", "price": 3.5, "priceCurrency": "USD"}]},
                {"@type": "MenuItem", "name": "Mocha", "offers": {"@type": "AggregateOffer", "lowPrice": "4.00", "highPrice": "6.00", "priceCurrency": "USD"}},
                {"@type": "MenuItem", "name": "Tea", "offers": {"priceSpecification": {"price": "$3", "priceCurrency": "USD"}, "availability": "http://schema.org/SoldOut"}}]}}}"#,
    );
    check(&html, "Bean | USD\n# Coffee\nLatte | 3.5 | | Size: Large 4.5 / Small 3.5\nMocha | 4\nTea | 3 | | sold out");
}

#[test]
fn details_of_items() {
    let html = json_ld(
        r#"{"@graph": [{"@type": "Menu", "@id": "/menu", "hasMenuSection": {"@type": "MenuSection", "name": "Bowls &amp; more", "hasMenuItem": [
            {"@type": "MenuItem", "name": "Buddha Bowl", "description": "<p>Rice,&nbsp;tofu</p>", "image": [{"@type": "ImageObject", "url": "/b.jpg"}],
             "suitableForDiet": ["https://schema.org/VeganDiet", {"@id": "GlutenFreeDiet"}, "HalalDiet"],
             "nutrition": {"@type": "NutritionInformation", "calories": "2092 kJ"}, "identifier": {"@type": "PropertyValue", "value": "B-7"},
             "url": "https://place.test/bowl", "offers": [{"price": "12.00", "priceCurrency": "GBP"}],
             "menuAddOn": [{"@type": "MenuItem", "name": "Egg", "offers": {"price": 1}}]}]}},
          {"@type": "Restaurant", "name": "Green", "hasMenu": {"@id": "/menu"}, "address": {"addressLocality": "Leeds"}}]}"#,
    );
    check(
        &html,
        "Green | GBP\n# Bowls & more\nBuddha Bowl | 12 | Rice, tofu | vegan; gluten-free; halal; 500 kcal; no B-7; https://place.test/b.jpg; Extras: Egg 1; https://place.test/bowl",
    );
    let menu = extract_product::menu(&crate::page(&html)).unwrap();
    assert_eq!(menu.merchant.kind.as_deref(), Some("restaurant"));
    assert_eq!(menu.merchant.location, Some(serde_json::json!({ "city": "Leeds" })));
}

#[test]
fn microdata_without_a_restaurant() {
    check(
        "<title>Menu | The Crown</title><div itemscope itemtype='http://schema.org/Menu'><h2 itemprop=name>Bar food</h2>
         <div itemprop=hasMenuItem itemscope itemtype='http://schema.org/MenuItem'><b itemprop=name>Pie</b> <i itemprop=description>Beef &amp; ale</i>
           <span itemprop=offers itemscope itemtype='http://schema.org/Offer'><span itemprop=priceCurrency content=GBP>£</span><span itemprop=price content='11.50'>11.50</span></span></div>
         <div itemprop=hasMenuItem itemscope itemtype='http://schema.org/MenuItem'><b itemprop=name>Chips</b>
           <div itemprop=nutrition itemscope itemtype='http://schema.org/NutritionInformation'><span itemprop=calories>320 calories</span></div></div></div>",
        "The Crown | GBP\n# Bar food\nPie | 11.5 | Beef & ale\nChips | | | 320 kcal",
    );
}

#[test]
fn references_in_circles_end() {
    let html = json_ld(
        r##"{"@graph": [{"@type": "Menu", "@id": "#m", "hasMenuSection": {"@id": "#s"}},
            {"@type": "MenuSection", "@id": "#s", "name": "Soups", "hasMenuItem": {"@type": "MenuItem", "name": "Pho", "offers": {"price": 1}}, "hasMenuSection": {"@id": "#s"}}]}"##,
    );
    assert!(extract_product::menu(&crate::page(&html)).is_ok());
}

#[test]
fn described_lists_that_are_no_menus() {
    // The services of a salon.
    check_none(&json_ld(
        r#"{"@type": "HairSalon", "name": "Mia", "hasMenu": {"@type": "Menu", "hasMenuSection": {"@type": "MenuSection", "name": "Cut",
            "hasMenuItem": [{"@type": "MenuItem", "name": "Haircut", "offers": {"price": 40}}, {"@type": "MenuItem", "name": "Balayage", "offers": {"price": 90}}]}}}"#,
    ));
    // A navigation.
    check_none(&json_ld(
        r#"{"@type": "Menu", "hasMenuItem": [{"@type": "MenuItem", "name": "Home", "url": "/"}, {"@type": "MenuItem", "name": "Contact", "url": "/contact"}]}"#,
    ));
    // Menus of several places.
    let place = |name: &str| {
        format!(
            r#"{{"@type": "Restaurant", "name": "{name}", "hasMenu": {{"hasMenuItem": {{"@type": "MenuItem", "name": "Soup", "offers": {{"price": 5}}}}}}}}"#
        )
    };
    check_none(&json_ld(&format!("[{},{}]", place("A"), place("B"))));
    // A menu without items.
    check_none(&json_ld(r#"{"@type": "Restaurant", "name": "A", "hasMenu": {"@type": "Menu", "hasMenuSection": []}}"#));
    // A single dish.
    check_none(&json_ld(r#"{"@type": "MenuItem", "name": "Soup", "offers": {"price": 5}}"#));
}
