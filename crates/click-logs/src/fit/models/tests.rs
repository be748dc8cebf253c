use super::*;

#[test]
fn every_model_has_a_row() {
    for model in Model::ALL {
        assert_eq!(row(model).model, model);
    }
}
